// A child process that may write nothing into files, as on a full disk: `full-disk.ts <folder> <log>` tries to lock the
// folder and to open the log, and says why it cannot.

import { writeSync } from 'node:fs';
import { lockFolder } from '../../../runtime/host/disk/lock.ts';
import { openLog } from '../../../runtime/host/disk/log.ts';

const [folder, log] = process.argv.slice(2) as [string, string];
for (const start of [() => lockFolder(folder), () => openLog(log)]) {
  try {
    await start();
    writeSync(1, 'started\n');
  } catch (error) {
    writeSync(1, `${(error as Error).message}\n`);
  }
}
