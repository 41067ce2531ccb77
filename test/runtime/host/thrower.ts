// A child process in which a delivery throws.

import { writeSync } from 'node:fs';
import { hostMail } from '../../../runtime/host/mail.ts';

process.on('uncaughtException', (error) => writeSync(1, `caught: ${error.message}\n`));
const mail = hostMail();
mail.carry('a', 'b', () => {
  throw new Error('a bug');
});
mail.carry('a', 'b', () => writeSync(1, 'delivered\n'));
