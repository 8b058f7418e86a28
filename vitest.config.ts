import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { temporaryFolder } from './test/helpers/memory-folder.ts';

// Of this process and of all that it starts.
process.env.TMPDIR = temporaryFolder();

/**
 * Tests of whole systems: services in processes of their own, a browser, database servers that are made, killed and
 * restored. They take longer than all others together, so `npm test` leaves them to `npm run test:system`.
 */
const systemTests = [
  'test/browser/**',
  'test/deposits/real-node/**',
  'test/deposits/{nodes,node-check}.test.ts',
  'test/traces/**',
  'test/portal/{isolation,qr-photo}.test.ts',
  'test/guides/snippets.test.ts',
  'test/gateway/check.test.ts',
  'test/clocks/machine-clock.test.ts',
  'test/bot/{every-button,leader,telegram-outage}.test.ts',
  'test/sdk/{packed,packed-cli}.test.ts',
  'test/install/**',
  'test/cli/{start,processes,console-start,secret-rotation,demo,listen}.test.ts',
  'test/examples/**',
  'test/runtime/{rejoin,drain,database-outages}.test.ts',
  'test/alerts/**',
  'test/citus/**',
  'test/faults/**',
  'test/failover/**',
  'test/db/{embedded,embedded-guard,embedded-privileges,roles,differing-rights,rotation,backup,backup-s3,s3-store,restore}.test.ts',
];

/** Tests that take minutes, or repeat with other variants what a system test checks once: for `npm run test:long`. */
const longTests = ['test/**/*.long.test.ts'];

/**
 * Files that wait for processes to start, to die and to be presumed dead. They start first, so that the run does not end
 * with one of them alone. Without a cache vitest starts with the largest files, and some slow ones are small.
 */
const slowFiles = [
  'browser/journeys',
  'faults/faults',
  'failover/failover',
  'simulation',
  'cli/start',
  'citus/history-reads',
  'install/package',
  'db/embedded',
  'deposits/real-node/crashes',
  'db/backup-s3',
  'bot/leader',
  'bot/every-button',
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

/** What a mode runs instead of all tests. */
const included: Record<string, string[]> = {
  system: systemTests,
  long: longTests,
};

/** What a mode leaves out. */
function excludedIn(mode: string): string[] {
  if (mode === 'all' || mode === 'long') return [];
  return mode in included ? longTests : [...systemTests, ...longTests];
}

/** One file at a time: building an image, for one, keeps all cores busy, and beside it no service recovers in time. */
const isAlone = (mode: string) => mode === 'long';

/** A mode runs the tests that are listed for it above, `--mode all` runs everything; without a mode, all but those. */
export default defineConfig(({ mode }) => ({
  test: {
    include: included[mode]?.map(name => name.replace(/\*\*$/, '*.test.ts')) ?? ['test/**/*.test.ts'],
    exclude: excludedIn(mode),
    globalSetup: ['test/setup.ts'],
    setupFiles: ['test/each-file.ts'],
    // Loading the tested modules again for every file would take a fifth of the time.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    // What a test waits for comes on a busy machine too: this only ends one that hangs, and each wait in it ends before.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    // For two cores: many tests wait for the database or for processes that they start.
    maxWorkers: isAlone(mode) ? 1 : 3,
    sequence: { sequencer: SlowFilesFirst },
  },
}));
