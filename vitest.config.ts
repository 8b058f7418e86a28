import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores, a database beside the tests, and tests that start processes of their own and wait for them.
    maxWorkers: 3,
  },
});
