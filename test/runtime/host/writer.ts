// A child process that writes as fast as it can and says what is durable, until it is killed:
// `writer.ts log|store <path> <first number>`.

import { writeSync } from 'node:fs';
import { openLog } from '../../../runtime/host/disk/log.ts';
import { openStore } from '../../../runtime/host/disk/store.ts';
import { bytesOf } from '../../compliance/bytes.ts';

const [what, path, first] = process.argv.slice(2) as ['log' | 'store', string, string];
let next = Number(first);

/** Records and values of many sizes, so that a cut may fall anywhere. */
const textOf = (n: number): string => `${n} ${'x'.repeat((n * 7919) % 5000)}`;
const say = (line: string): void => void writeSync(1, `${line}\n`);

function writeLog(): void {
  const log = openLog(path);
  const round = () => {
    for (let i = 0; i < 5; i++) log.append(bytesOf(textOf(next++)));
    const upTo = next;
    log.sync(() => {
      say(`durable ${upTo}`);
      round();
    });
    log.append(bytesOf(textOf(next++)));
    if (next % 1000 < 6) log.trim(200);
  };
  round();
}

/** Each batch writes its number twice: a torn batch would show. */
function writeStore(): void {
  const store = openStore(path);
  const batch = () => {
    const n = next++;
    const text = textOf(n);
    return [
      { key: bytesOf(`a ${String(n).padStart(9, '0')}`), value: bytesOf(text), remove: false },
      { key: bytesOf('last'), value: bytesOf(`${n}`), remove: false },
      { key: bytesOf(`b ${String(n).padStart(9, '0')}`), value: bytesOf(text), remove: false },
      { key: bytesOf(`a ${String(n - 200).padStart(9, '0')}`), value: new Uint8Array(0), remove: true },
      { key: bytesOf(`b ${String(n - 200).padStart(9, '0')}`), value: new Uint8Array(0), remove: true },
    ];
  };
  const round = () => {
    store.write(batch());
    const upTo = next + 1;
    store.write(batch(), () => {
      say(`durable ${upTo}`);
      round();
    });
    store.write(batch());
  };
  round();
}

if (what === 'log') writeLog();
else writeStore();
