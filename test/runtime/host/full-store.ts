// A child process whose database cannot grow any more (`full-store.ts <folder>`, under a limit): it says what it is
// told, and closes the database.

import { writeSync } from 'node:fs';
import { openStore } from '../../../runtime/host/disk/store.ts';

const say = (line: string): void => void writeSync(1, `${line}\n`);
console.error = () => {}; // lmdb prints the error, too
process.on('unhandledRejection', (error) => say(`nobody looked: ${error}`));

const store = openStore(process.argv[2] as string, {
  onFatal: (error) => {
    say(`failed: ${error.message}`);
    // What the failure leaves behind comes to light by then.
    setTimeout(() => void store.close().then(() => say('closed')), 200);
  },
});
for (let i = 0; i < 300; i++)
  store.write([{ key: Uint8Array.of(1, i & 255, i >> 8), value: new Uint8Array(5_000), remove: false }]);
