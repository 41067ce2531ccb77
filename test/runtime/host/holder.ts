// A child process that takes a folder and keeps it until it is killed: `holder.ts <folder>`.

import { writeSync } from 'node:fs';
import { SetupError } from '../../../runtime/host/disk/files.ts';
import { lockFolder } from '../../../runtime/host/disk/lock.ts';

try {
  await lockFolder(process.argv[2]!);
  writeSync(1, 'held\n');
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  writeSync(1, 'in use\n');
}
setInterval(() => {}, 1000);
