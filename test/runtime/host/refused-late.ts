// A child process whose node is told to stop while it begins, and is refused then. Like one that has a channel to a
// cluster it does not end for want of work.

import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../../../runtime/host/disk/files.ts';
import { NodeLife } from '../../../runtime/host/process/node-life.ts';
import { main } from '../../../runtime/host/process/node-main.ts';

console.error = (line: string) => writeSync(1, `refused: ${line}\n`);
NodeLife.begin = async () => {
  process.emit('SIGTERM');
  writeSync(1, 'asked to stop\n');
  await sleep(10);
  throw new SetupError('the port is in use');
};
setTimeout(() => writeSync(1, 'goes on\n'), 10_000);
await main([], false);
