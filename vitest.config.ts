import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that wait for processes to start, to die and to be presumed dead. They start first, so that the run does not end
 * with one of them alone. Without a cache vitest starts with the largest files, and some slow ones are small.
 */
const slowFiles = [
  'faults',
  'crashes',
  'simulation',
  'cli/start',
  'browser/appearance',
  'db/embedded',
  'bot/leader',
  'bot/every-button',
  'bot/qr-photos.test',
  'db/listen',
];
const isSlow = ({ moduleId }: TestSpecification) =>
  slowFiles.some(name => moduleId.includes(`/test/${name}`));

class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter(file => !isSlow(file))];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup.ts'],
    setupFiles: ['test/each-file.ts'],
    // Loading the tested modules again for every file would take a fifth of the time.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Enough for a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // For two cores: many tests wait for the database or for processes that they start.
    maxWorkers: 3,
    sequence: { sequencer: SlowFilesFirst },
  },
});
