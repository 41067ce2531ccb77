// The program of a worker: reads jobs from its input, one JSON line each, performs them in order, and
// answers each with a line.

import { createInterface } from 'node:readline';
import type { MemoryJob } from './bench-memory.ts';
import type { CrashesJob } from './crashes-job.ts';
import type { ExploreJob } from './explore-job.ts';
import type { Job } from './job.ts';
import type { ShrinkJob } from './shrink-job.ts';

process.env['NODE_ENV'] ??= 'production';
const { performJob } = await import('./job.ts');
const { performCrashes } = await import('./crashes-job.ts');
const { performExplore } = await import('./explore-job.ts');
const { performShrink } = await import('./shrink-job.ts');
const { performMemory } = await import('./bench-memory.ts');

const answerOf = (job: Job | CrashesJob | ExploreJob | ShrinkJob | MemoryJob): unknown => {
  if ('grid' in job) return performCrashes(job);
  if ('explore' in job) return performExplore(job);
  if ('memory' in job) return performMemory(job);
  return 'shrink' in job ? performShrink(job) : performJob(job);
};

for await (const line of createInterface({ input: process.stdin })) {
  if (line !== '') process.stdout.write(`${JSON.stringify(answerOf(JSON.parse(line)))}\n`);
}
