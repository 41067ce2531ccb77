// A child process that cannot close, while something that it asked of the disk hangs: opening a pipe to which nobody writes does as well.

import { open, writeSync } from 'node:fs';
import { NodeLife } from '../../../runtime/host/process/node-life.ts';
import { main } from '../../../runtime/host/process/node-main.ts';

const [, , pipe] = process.argv;
const stuck = {
  start: () => {},
  replayHint: null,
  end: () => {
    open(pipe as string, 'r', () => {});
    return new Promise(() => {});
  },
};
console.error = (line: string) => writeSync(1, `${line}\n`);
NodeLife.begin = async () => stuck as unknown as NodeLife;
await main([], false);
setInterval(() => {}, 1_000);
process.kill(process.pid, 'SIGTERM');
