import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { citusArchive } from './test/citus/archive.ts';

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
  'test/cli/{start,processes,console-start,secret-rotation,demo,listen,trigger,shard}.test.ts',
  'test/examples/**',
  'test/runtime/{rejoin,drain,database-outages}.test.ts',
  'test/simulation/shards.test.ts',
  'test/shards/{create,create-under-load,availability,turns}.test.ts',
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

/** Tests of shards on Citus, and tests of functions that then run in one of these: see docs/internals/testing.md. */
const citusTests = ['test/citus/**'];
/** They wait for what a service has to notice in time: see `timedTests`. */
const citusFaults = ['test/citus/{faults,lost-worker}.test.ts'];
const functionTests = [
  'test/payments/{open-together,unchecked,key-limits,refunds}.test.ts',
  'test/quotes/{opening,locking}.test.ts',
];

/** Tests of what spans shards. They need more than one. */
const spanTests = 'test/shards/spans/**';

/** Tests that book deposits. */
const depositTests = 'test/deposits/{book,held,reconcile,restore-credits,screening}.test.ts';

/** Tests that run a second time with the partners spread over four shards: see docs/internals/testing.md. */
const shardTests = ['test/api/**', 'test/webhooks/**', depositTests, spanTests];

/** The same for tests that wait for processes: alone, like the timed ones. */
const crashTests = ['test/crashes/**'];

/** The same for pages. Not on Citus: they use the functions that the tests above call there. */
const pageTests = ['test/portal/**', 'test/quotes/console.test.ts', 'test/console/endpoints.test.ts'];

/** Those of them that do not, and why. */
const notOnShards: Record<string, string> = {
  'test/api/list-filters.test.ts': 'read plans of one table, which is filled past the service',
  'test/webhooks/delivery-list.test.ts': 'the same',
  'test/api/added-column.test.ts':
    'changes tables by hand; test/shards/schema-changes.test.ts does it in every shard',
  'test/webhooks/outbox.test.ts': 'calls of the previous release know one shard',
  'test/webhooks/locked-webhook.test.ts': 'is about one recorder, which belongs to one shard',
  'test/webhooks/{address,connect,dns,load,metrics,send,send-to-bad-receivers,slots,special-ranges}.test.ts':
    'uses no database',
  'test/api/{connections,contract-map,static-files}.test.ts': 'uses no database',
  'test/portal/qr-photo.test.ts': 'reads pictures only',
};

/** Those that do not run either if the shards are on workers of Citus. */
const notOnCitus: Record<string, string> = {
  'test/webhooks/half-dead.test.ts': 'sends ten thousand events within a time that one server can keep',
  'test/api/slow-reads.test.ts': 'makes statements of the service wait for a lock of one server',
  'test/api/not-on-record.test.ts': 'leads sessions of one server to another copy of its database',
};

/**
 * Files that wait for processes to start, to die and to be presumed dead. They start first, so that the run does not end
 * with one of them alone. Without a cache vitest starts with the largest files, and some slow ones are small.
 */
const slowFiles = [
  'simulation',
  'cli/start',
  'install/package',
  'guides/languages',
  'browser/appearance',
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
const included: Record<string, string[]> = {
  system: systemTests,
  timed: timedTests,
  citus: citusArchive ? [...citusTests, ...functionTests] : citusTests,
  'citus-faults': citusFaults,
  shards: [...shardTests, ...pageTests],
  'shards-crashes': crashTests,
  'citus-shards': citusArchive ? shardTests : [],
  'citus-crashes': citusArchive ? crashTests : [],
};

const shardsOnCitus = { KOPECK_TEST_SHARDS: '4', KOPECK_TEST_CITUS: '1' };

/** Of the shards that a mode runs with. */
const environments: Record<string, Record<string, string>> = {
  citus: citusArchive ? { KOPECK_TEST_CITUS: '1' } : {},
  shards: { KOPECK_TEST_SHARDS: '4' },
  'shards-crashes': { KOPECK_TEST_SHARDS: '4' },
  'citus-shards': shardsOnCitus,
  'citus-crashes': shardsOnCitus,
};

/** What a mode leaves out. */
function excludedIn(mode: string): string[] {
  if (mode === 'citus') return citusFaults;
  if (mode === 'shards') return Object.keys(notOnShards);
  if (mode === 'citus-shards') return [...Object.keys(notOnShards), ...Object.keys(notOnCitus)];
  return mode === 'all' || mode in included ? [] : [...systemTests, ...timedTests, ...citusTests, spanTests];
}

/** A mode runs the tests that are listed for it above, `--mode all` runs everything; without a mode, all but those. */
export default defineConfig(({ mode }) => ({
  test: {
    include: included[mode]?.map(name => name.replace('**', '*.test.ts')) ?? ['test/**/*.test.ts'],
    exclude: excludedIn(mode),
    env: environments[mode] ?? {},
    globalSetup: ['test/setup.ts'],
    setupFiles: ['test/each-file.ts'],
    // Loading the tested modules again for every file would take a fifth of the time.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    // The timed tests have limits of their own, which say what took too long.
    testTimeout: mode === 'timed' ? 300_000 : mode.startsWith('citus') ? 180_000 : 60_000,
    hookTimeout: mode.startsWith('citus') ? 180_000 : 60_000,
    // Enough for a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // For two cores: many tests wait for the database or for processes that they start. Citus has three servers that need them.
    maxWorkers: ['timed', 'shards-crashes', 'citus-faults', 'citus-crashes'].includes(mode)
      ? 1
      : mode.startsWith('citus')
        ? 2
        : 3,
    sequence: { sequencer: SlowFilesFirst },
  },
}));
