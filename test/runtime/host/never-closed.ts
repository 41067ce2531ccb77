// A child process whose node has a bug, does not close, and has another bug meanwhile.

import { writeSync } from 'node:fs';
import { NodeLife } from '../../../runtime/host/process/node-life.ts';
import { main } from '../../../runtime/host/process/node-main.ts';

const unclosed = {
  start: () => {},
  replayHint: null,
  end: () => {
    writeSync(1, 'ends\n');
    return new Promise(() => {});
  },
};
console.error = () => {};
NodeLife.begin = async () => unclosed as unknown as NodeLife;
await main([], false);
setTimeout(() => {
  throw new Error('first');
}, 10);
setTimeout(() => {
  throw new Error('second');
}, 50);
setTimeout(() => writeSync(1, 'goes on\n'), 1_000);
