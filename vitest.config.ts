import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { temporaryFolder } from './test/helpers/memory-folder.ts';

// Of this process and of all that it starts.
process.env.TMPDIR = temporaryFolder();

/**
 * Tests of whole systems: services in processes of their own, a browser, database servers that are made, killed and
 * restored. They take as long as all others together, so `npm test` leaves them to `npm run test:system`.
 */
const systemTests = [
  'test/browser/**',
  'test/deposits/real-node/**',
  'test/deposits/{nodes,node-check}.test.ts',
  'test/traces/**',
  'test/quotes/processes.test.ts',
  'test/portal/{isolation,qr-photo}.test.ts',
  'test/guides/{languages,snippets}.test.ts',
  'test/gateway/check.test.ts',
  'test/ledger/churn.test.ts',
  'test/request-log/shutdown.test.ts',
  'test/clocks/machine-clock.test.ts',
  'test/bot/{every-button,leader,telegram-outage,qr-photos}.test.ts',
  'test/sdk/faults.test.ts',
  'test/install/**',
  'test/cli/{start,processes,console-start,secret-rotation,demo,listen,trigger}.test.ts',
  'test/examples/**',
  'test/runtime/{rejoin,drain,database-outages}.test.ts',
  'test/alerts/**',
  'test/upgrade/**',
  'test/webhooks/{endpoint-model,half-dead}.test.ts',
  'test/db/{embedded,embedded-guard,embedded-privileges,roles,differing-rights,rotation,backup,backup-outside,backup-s3,s3-store,restore,drill}.test.ts',
];

/**
 * System tests that check how soon a service answers or recovers after a fault. They run after the others, one at a time: on a
 * machine that is busy with other tests the times would say nothing about the service.
 */
const timedTests = ['test/faults/**', 'test/crashes/**'];

/** Tests of a history on Citus: see docs/internals/testing.md. */
const citusTests = ['test/citus/**'];

/**
 * Files that wait for processes to start, to die and to be presumed dead. They start first, so that the run does not end
 * with one of them alone. Without a cache vitest starts with the largest files, and some slow ones are small.
 */
const slowFiles = [
  'simulation',
  'cli/start',
  'install/package',
  'guides/languages',
  'browser/journeys',
  'db/embedded',
  'deposits/real-node/crashes',
  'db/backup-s3',
  'ledger/churn',
  'bot/leader',
  'bot/every-button',
  'bot/qr-photos.test',
  'db/listen',
];
const isSlow = ({ moduleId }: TestSpecification) =>
  slowFiles.some(name => moduleId.includes(`/test/${name}`));

/** Building an image keeps all cores busy for minutes. Beside it, services that are killed do not recover in time. */
const isLast = ({ moduleId }: TestSpecification) => moduleId.includes('/test/install/container');

class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files);
    const others = sorted.filter(file => !isSlow(file) && !isLast(file));
    return [...sorted.filter(isSlow), ...others, ...sorted.filter(isLast)];
  }
}

/** What a mode runs instead of all tests. */
const included: Record<string, string[]> = { system: systemTests, timed: timedTests, citus: citusTests };

/** What a mode leaves out. */
const excludedIn = (mode: string) =>
  mode === 'all' || mode in included ? [] : [...systemTests, ...timedTests, ...citusTests];

/** A mode runs the tests that are listed for it above, `--mode all` runs everything; without a mode, all but those. */
export default defineConfig(({ mode }) => ({
  test: {
    include: included[mode]?.map(name => name.replace('**', '*.test.ts')) ?? ['test/**/*.test.ts'],
    exclude: excludedIn(mode),
    globalSetup: ['test/setup.ts'],
    setupFiles: ['test/each-file.ts'],
    // Loading the tested modules again for every file would take a fifth of the time.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    // The timed tests have limits of their own, which say what took too long.
    testTimeout: mode === 'timed' ? 300_000 : mode === 'citus' ? 180_000 : 60_000,
    hookTimeout: mode === 'citus' ? 180_000 : 60_000,
    // Enough for a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // For two cores: many tests wait for the database or for processes that they start. Citus has three servers that need them.
    maxWorkers: mode === 'timed' ? 1 : mode === 'citus' ? 2 : 3,
    sequence: { sequencer: SlowFilesFirst },
  },
}));
