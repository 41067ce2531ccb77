// What a power failure would have done to a killed node's logs: their unsynced ends vanish in part, and
// something torn stands behind.

import * as fs from 'node:fs';
import type { LogName } from '../../../actors/turn.ts';
import type { Stream } from '../../../sim/choices.ts';
import { syncedLengthOf } from '../../host/disk/log-mark.ts';
import { dataOf, logIn } from '../../host/home/data-folder.ts';

const LOGS: readonly LogName[] = ['consensus', 'privval'];
const TORN_BYTES_MAX = 300;

export interface Damage {
  /** Bytes of records that were not synced, and are gone. */
  readonly cut: number;
  /** Bytes of no record that were put behind. */
  readonly torn: number;
}

/**
 * kill -9 loses nothing that was written, as the kernel keeps it: so we cut each log to a length that is drawn, not below its `.synced`
 * mark, and append a torn end. (Stores need no help: they reopen at the last flushed transaction.)
 */
export function damageLogs(home: string, chance: Stream): Damage {
  let cut = 0;
  let torn = 0;
  for (const name of LOGS) {
    const path = logIn(dataOf(home), name);
    if (!fs.existsSync(path)) continue;
    const size = fs.statSync(path).size;
    const synced = Math.min(syncedLengthOf(path) ?? size, size);
    const length = synced + chance.draw(size - synced + 1);
    cut += size - length;
    fs.truncateSync(path, length);
    const end = tornEnd(chance);
    fs.appendFileSync(path, end);
    torn += end.length;
  }
  return { cut, torn };
}

/** Nothing, zeros (a file system that grew the file first), or rubbish. */
function tornEnd(chance: Stream): Uint8Array {
  const kind = chance.draw(4);
  const bytes = new Uint8Array(kind === 0 ? 0 : 1 + chance.draw(TORN_BYTES_MAX));
  if (kind > 1) for (let i = 0; i < bytes.length; i++) bytes[i] = chance.draw(256);
  return bytes;
}
