// The mark beside a recording: `<trace>.mark` says up to where its records are whole, so that a new life reads what
// stands behind and not a day of turns. One line: boot, records, where the last of them begins and ends, and the
// CRC-32C of these.
// It is believed on the boot that it names: a killed process leaves all that it wrote, a power failure may take
// anything from anywhere. What rots before it is for a replay to find.

import * as fs from 'node:fs';
import { utf8Encode } from '#platform';
import { crc32c } from '../../../protocol/crc32c.ts';
import { bootNow, UNKNOWN } from './boot.ts';

export interface Whole {
  /** Whole records, the header among them. */
  readonly records: number;
  /** Bytes at which the last of them begins, and all of them end. */
  readonly last: number;
  readonly bytes: number;
}

const pathOf = (trace: string): string => `${trace}.mark`;
const textOf = (boot: string, { records, last, bytes }: Whole): string =>
  `${boot} ${records} ${last} ${bytes}`;
const checked = (text: string): string => `${text} ${crc32c(utf8Encode(text))}\n`;

/** A mark that cannot be written is none: the next life reads more. */
export function markWhole(trace: string, whole: Whole): void {
  const boot = bootNow();
  if (boot === UNKNOWN) return;
  try {
    fs.writeFileSync(pathOf(trace), checked(textOf(boot, whole)), { mode: 0o600 });
  } catch {}
}

/** Null: nothing is known, or the machine was off since. */
export function wholeOf(trace: string): Whole | null {
  let text: string;
  try {
    text = fs.readFileSync(pathOf(trace), 'utf8');
  } catch {
    return null;
  }
  const [boot = UNKNOWN, ...rest] = text.split(' ');
  const [records = 0, last = 0, bytes = 0] = rest.map(Number);
  const whole = { records, last, bytes };
  return boot === bootNow() && text === checked(textOf(boot, whole)) ? whole : null;
}
