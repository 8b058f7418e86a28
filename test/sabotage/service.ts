import type { Sabotage } from './sabotage.ts';

const testClock = { test: 'test/api/test-clock.test.ts', failingTitle: 'live rows stay' };
const simulation = { test: 'test/simulation/simulation.test.ts', failingTitle: 'whatever goes wrong' };

/** Guards of webhooks, reads, test mode, time and start. */
export const serviceSabotages: Sabotage[] = [
  {
    guard: 'events during a suspension',
    file: 'database/functions/queue_deliveries.sql',
    pattern: /JOIN webhooks w ON w\.partner_id = n\.partner_id;/,
    replacement: 'JOIN webhooks w ON w.partner_id = n.partner_id AND w.suspended_at IS NULL;',
    ...simulation,
  },
  {
    guard: 'delivered only after an answer',
    file: 'src/webhooks/delivery/attempt.ts',
    pattern: /verdict\.outcome === 'answered' && /,
    replacement: "verdict.outcome === 'failed' || ",
    ...simulation,
  },
  {
    guard: 'record attempts before shutdown',
    file: 'src/webhooks/delivery/worker.ts',
    pattern: /, \.\.\.unrecorded\]/,
    replacement: ']',
    ...simulation,
  },
  {
    guard: 'fencing of attempts',
    file: 'database/functions/deliveries_end.sql',
    pattern: /AND d\.attempts = a\.attempt - 1 /,
    ...simulation,
  },
  {
    guard: 'order of answers in a shared read',
    file: 'src/payments/store.ts',
    pattern: /found\[row\.item - 1\]/,
    replacement: 'found[rows.indexOf(row)]',
    test: 'test/api/list.test.ts',
    failingTitle: 'many partners who read at once',
  },
  {
    guard: 'cache key of finished payments',
    file: 'src/api/payments/finished-payment-cache.ts',
    pattern: /\$\{partnerId\} \$\{mode\} /,
    replacement: '',
    test: 'test/api/list.test.ts',
    failingTitle: 'a finished payment of another',
  },
  {
    guard: 'test clock moves no live payment',
    file: 'src/payments/recovery/test-clock.ts',
    pattern: /AND mode = 'test' AND lease_holder IS NULL/,
    replacement: 'AND lease_holder IS NULL',
    ...testClock,
  },
  {
    guard: 'test clock moves no live delivery',
    file: 'src/webhooks/delivery/test-mode.ts',
    pattern: /AND mode = 'test' AND failed_at IS NULL/,
    replacement: 'AND failed_at IS NULL',
    ...testClock,
  },
  {
    guard: 'scenarios only in test mode',
    file: 'src/payments/create/scenarios.ts',
    pattern: /if \(mode !== 'test'\) return undefined;/,
    test: 'test/api/scenarios.test.ts',
    failingTitle: 'no scenario for live payments',
  },
  {
    guard: 'no token without a request',
    file: 'src/partners/rate-limit.ts',
    pattern: /waiters\.length\)/,
    replacement: 'waiters.length + 1)',
    test: 'test/partners/rate-limit.test.ts',
    failingTitle: 'a burst gets exactly',
  },
  {
    guard: 'takeover from a silent leader',
    file: 'src/bot/leader.ts',
    pattern: /await client\.query\(endSilentLeader, .*\);/,
    test: 'test/bot/leader.test.ts',
    failingTitle: 'a leader whose connection is cut',
  },
  {
    guard: 'clock of the database',
    file: 'src/db/database-clock.ts',
    pattern: /nowMs: \(\) => Math\.round\(.*\),/,
    replacement: 'nowMs: machine.nowMs,',
    test: 'test/clocks/machine-clock.test.ts',
    failingTitle: 'a wrong clock of a machine',
  },
  {
    guard: 'gateway mismatch',
    file: 'src/runtime/main.ts',
    pattern: /await refuseForeignOrders\(bank, database\);/,
    test: 'test/cli/demo.test.ts',
    failingTitle: 'is refused where the last payments are at another bank',
  },
  {
    guard: 'a row that arrives while its week gets a partition',
    file: 'src/db/partitions.ts',
    pattern: /IN SHARE ROW EXCLUSIVE MODE/,
    replacement: 'IN SHARE UPDATE EXCLUSIVE MODE',
    test: 'test/db/partitions.test.ts',
    failingTitle: 'while rows are written',
  },
  {
    guard: 'no partition is dropped before its last row is too old',
    file: 'src/db/partitions.ts',
    pattern: /\(\{ to \}\) => to <=/,
    replacement: '({ from }) => from <=',
    test: 'test/db/partitions.test.ts',
    failingTitle: 'keeps a row for thirty days',
  },
];
