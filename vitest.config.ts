import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ownName = {
  'rehearsal/sim': source('./sim/index.ts'),
  'rehearsal/property': source('./sim/property/index.ts'),
  'rehearsal/protocol': source('./protocol/index.ts'),
};

const cores = availableParallelism();

/** The plays take a quarter of an hour: begun last, they would run alone. */
class PlaysFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isOfPlays = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/test/scenarios/');
    const sorted = await super.sort(files);
    return [...sorted.filter(isOfPlays), ...sorted.filter((file) => !isOfPlays(file))];
  }
}

/** Tests that start processes, open ports or wait for a clock: they want the machine to themselves, more or less. */
const ofProcesses = [
  'test/runtime/cli/**/*.test.ts',
  'test/runtime/host/**/*.test.ts',
  'test/compliance/host.test.ts',
  'examples/**/*.test.ts',
];

// NODE_ENV=production: xstate's development build costs three times as much and is not what runs.
export default defineConfig({
  // The examples import the package by its name, as a project of their own does.
  resolve: { conditions: ['source'], alias: ownName },
  ssr: { resolve: { conditions: ['source', 'node'] } },
  test: {
    env: { NODE_ENV: 'production' },
    // Of what hangs; how fast anything is the benchmarks tell.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Of tests that are declared concurrent: they wait for processes of their own.
    maxConcurrency: cores,
    sequence: { sequencer: PlaysFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: ['test/**/*.test.ts'],
          exclude: ofProcesses,
          maxWorkers: cores,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: ofProcesses,
          maxWorkers: Math.max(1, cores - 1),
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
