// A child process that opens databases and reads all that is in them: `reader.ts <folder>...`. A crash of lmdb is
// its own.

import { writeSync } from 'node:fs';
import { SetupError } from '../../../runtime/host/disk/files.ts';
import { openStore } from '../../../runtime/host/disk/store.ts';

const ALL = new Uint8Array(0);

for (const path of process.argv.slice(2)) {
  try {
    const store = openStore(path);
    const found = store.range(ALL, ALL, 1_000_000);
    await new Promise<void>((done) =>
      store.write([{ key: Uint8Array.of(0), value: ALL, remove: false }], done),
    );
    await store.close();
    writeSync(1, `read ${found.length}\n`);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    writeSync(1, `${error.message}\n`);
  }
}
writeSync(1, 'end\n');
