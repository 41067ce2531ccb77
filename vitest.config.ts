import { defineConfig } from 'vitest/config';

// NODE_ENV=production: xstate's development build costs three times as much and is not what runs.
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source', 'node'] } },
  test: {
    include: ['test/**/*.test.ts'],
    env: { NODE_ENV: 'production' },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
