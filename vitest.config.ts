import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that wait for processes to start, to die and to be missed; whoever starts last must not be one of them. */
const long = ['faults', 'crashes', 'simulation', 'cli/start', 'browser/appearance', 'db/embedded'];
const isLong = ({ moduleId }: TestSpecification) => long.some(name => moduleId.includes(`/test/${name}`));

class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))];
  }
}

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
    sequence: { sequencer: LongOnesFirst },
  },
});
