// A child process in which a timer throws, and all others are cancelled for that.

import { writeSync } from 'node:fs';
import { hostClock } from '../../../runtime/host/clock.ts';

const clock = hostClock();
let caught = 0;
process.on('uncaughtException', (error) => {
  writeSync(1, `caught: ${error.message}\n`);
  if (++caught > 3) process.exit(1);
  clock.close();
});
clock.after(0n, () => {
  throw new Error('a bug');
});
clock.after(0n, () => writeSync(1, 'a cancelled timer fired\n'));
setTimeout(() => writeSync(1, 'still here\n'), 50);
