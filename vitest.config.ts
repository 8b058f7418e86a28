import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Tests of whole systems: services in processes of their own, a browser, database servers that are made, killed and
 * restored. They take as long as all others together, so `npm test` leaves them to `npm run test:system`.
 */
const systemTests = [
  'test/browser/**',
  'test/crashes/**',
  'test/faults/**',
  'test/guides/languages.test.ts',
  'test/cli/{start,processes,console-start}.test.ts',
  'test/runtime/rejoin.test.ts',
  'test/db/{embedded,backup,backup-outside,backup-s3,s3-store,restore,drill}.test.ts',
];

/**
 * Files that wait for processes to start, to die and to be presumed dead. They start first, so that the run does not end
 * with one of them alone. Without a cache vitest starts with the largest files, and some slow ones are small.
 */
const slowFiles = [
  'faults',
  'crashes',
  'simulation',
  'cli/start',
  'guides/languages',
  'browser/appearance',
  'db/embedded',
  'db/backup-s3',
  'ledger/churn',
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

/** `--mode system` runs the system tests, `--mode all` everything; without either, all but the system tests. */
export default defineConfig(({ mode }) => ({
  test: {
    include:
      mode === 'system' ? systemTests.map(name => name.replace('**', '*.test.ts')) : ['test/**/*.test.ts'],
    exclude: mode === 'all' || mode === 'system' ? [] : systemTests,
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
}));
