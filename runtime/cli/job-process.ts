// The program of a worker: reads jobs from its input, one JSON line each, performs them in order, and
// answers each with a line.

import { createInterface } from 'node:readline';

process.env['NODE_ENV'] ??= 'production';
const { performJob } = await import('./job.ts');
const { performCrashes } = await import('./crashes-job.ts');

for await (const line of createInterface({ input: process.stdin })) {
  if (line === '') continue;
  const job = JSON.parse(line);
  const result = 'grid' in job ? performCrashes(job) : performJob(job);
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
