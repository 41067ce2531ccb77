// The program of a worker: reads jobs from its input, one JSON line each, performs them in order, and
// answers each with a line on a descriptor of its own.

import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import type { MemoryJob } from '../bench/memory-job.ts';
import type { CrashesJob } from '../crashes/job.ts';
import type { ExploreJob } from '../explore/job.ts';
import type { ShrinkJob } from '../shrink/job.ts';
import { ANSWERS } from './answers.ts';
import type { Job } from './job.ts';

process.env['NODE_ENV'] ??= 'production';
const { openPlay } = await import('../run/play-file.ts');
const { performJob } = await import('./job.ts');
const { performCrashes } = await import('../crashes/job.ts');
const { performExplore } = await import('../explore/job.ts');
const { performShrink } = await import('../shrink/job.ts');
const { performMemory } = await import('../bench/memory.ts');

/** A line of its own, before the answer's; it leaves at once. */
function say(word: object): void {
  const bytes = Buffer.from(`${JSON.stringify(word)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(ANSWERS, bytes, at);
}

/** A job may keep this thread for ever, with nobody left to wait for it: that parent may be gone before this begins. */
const ORPHAN = `const { workerData } = require('node:worker_threads');
setInterval(() => { if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL'); }, 1000);`;
new Worker(ORPHAN, { eval: true, workerData: Number(process.argv[2]) }).unref();

type AnyJob = Job | CrashesJob | ExploreJob | ShrinkJob | MemoryJob;

const answerOf = (job: AnyJob): object => {
  if ('grid' in job) return performCrashes(job);
  if ('explore' in job) return performExplore(job);
  if ('memory' in job) return performMemory(job);
  if ('shrink' in job) return performShrink(job, (soFar) => say({ soFar }));
  return performJob(job);
};

/** A play of its own may be in a module. */
const playOf = (job: AnyJob): string | undefined =>
  'explore' in job ? job.explore : 'play' in job ? job.play : undefined;

for await (const line of createInterface({ input: process.stdin })) {
  if (line === '') continue;
  const job: AnyJob = JSON.parse(line);
  const play = playOf(job);
  if (play !== undefined) await openPlay(play);
  say(answerOf(job));
}
