// The program of a worker: reads jobs from its input, one JSON line each, performs them in order, and
// answers each with a line.

import { createInterface } from 'node:readline';

process.env['NODE_ENV'] ??= 'production';
const { performJob } = await import('./job.ts');

for await (const line of createInterface({ input: process.stdin })) {
  if (line !== '') process.stdout.write(`${JSON.stringify(performJob(JSON.parse(line)))}\n`);
}
