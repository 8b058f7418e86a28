import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup.ts'],
    setupFiles: ['test/each-file.ts'],
    // Loading what is tested anew for every file would take a fifth of the time.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine takes its time; what does not come in ten seconds does not come.
    expect: { poll: { timeout: 10_000 } },
    // Two cores, a database beside the tests, and tests that start processes of their own and wait for them.
    maxWorkers: 3,
  },
});
