import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ownName = {
  'rehearsal/sim': source('./sim/index.ts'),
  'rehearsal/property': source('./sim/property/index.ts'),
  'rehearsal/protocol': source('./protocol/index.ts'),
};

// NODE_ENV=production: xstate's development build costs three times as much and is not what runs.
export default defineConfig({
  // The examples import the package by its name, as a project of their own does.
  resolve: { conditions: ['source'], alias: ownName },
  ssr: { resolve: { conditions: ['source', 'node'] } },
  test: {
    include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
    env: { NODE_ENV: 'production' },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Of tests that are declared concurrent: they wait for processes of their own.
    maxConcurrency: availableParallelism(),
  },
});
