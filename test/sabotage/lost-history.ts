import type { Sabotage } from './sabotage.ts';

/** Guards against a database that has forgotten commits. */
export const lostHistorySabotages: Sabotage[] = [
  {
    guard: 'no payment before the bank side was asked',
    file: 'src/payments/create/prepare.ts',
    pattern: / \|\| stops\.isRecovering/,
    test: 'test/payments/lost-history.test.ts',
    failingTitle: 'are rebuilt with their ids',
  },
  {
    guard: 'late orders of a lost history',
    file: 'src/payments/lost-history/recover-history.ts',
    pattern: /incarnation\.isSynchronous \? 0 : lateOrdersMs/,
    replacement: '0',
    test: 'test/payments/lost-history.test.ts',
    failingTitle: 'no payment is accepted before late orders',
  },
  {
    guard: 'an installation that goes on paying',
    file: 'src/payments/lost-history/recover-history.ts',
    pattern: /Math\.max\(quietFromMs, lastFoundMs \+ noNewOrdersMs\)/,
    replacement: 'quietFromMs',
    test: 'test/payments/two-histories.test.ts',
    failingTitle: 'keeps a copy of it closed',
  },
  {
    guard: 'no order long after its debit',
    file: 'src/payments/create/pay.ts',
    pattern: /isTooLateToSend\(deps, payment\) \? tooLate : /,
    test: 'test/api/live-races.test.ts',
    failingTitle: 'an order is not sent when the process hung',
  },
  {
    guard: 'jump of the numbers',
    file: 'database/functions/incarnation_begin.sql',
    pattern: /greatest\(next_sequence\.last \+ least_jump, first_free\)/,
    replacement: 'next_sequence.last + 1',
    test: 'test/payments/lost-history.test.ts',
    failingTitle: 'numbers that were given out',
  },
  {
    guard: 'blocked codes of stray orders',
    file: 'src/payments/create/prepare.ts',
    pattern: /mode === 'live' && stops\.hasStrayOrders/,
    replacement: 'false',
    test: 'test/payments/lost-history.test.ts',
    failingTitle: 'without its reference blocks its code',
  },
  {
    guard: 'sessions of a lost history',
    file: 'src/db/pool.ts',
    pattern: /if \(connection\.isCurrent\) fence\(pool, connection\.isCurrent\);/,
    test: 'test/db/incarnation.test.ts',
    failingTitle: 'that sees another incarnation uses no connection',
  },
  {
    guard: 'top-ups are for forgotten orders first',
    file: 'src/payments/lost-history/stray-orders.ts',
    pattern: /WHEN bool_or\(partner_id = \$2 AND why = 'insufficient_balance'\) THEN 'debt'/,
    test: 'test/payments/lost-history.test.ts',
    failingTitle: 'for want of balance',
  },
  {
    guard: 'a released order stays released',
    file: 'src/payments/lost-history/rebuild.ts',
    pattern:
      /OR EXISTS \(SELECT FROM stray_orders s WHERE s\.payment = o\.payment AND s\.released_at IS NOT NULL\)/,
    test: 'test/payments/lost-history.test.ts',
    failingTitle: 'without its reference blocks its code',
  },
  {
    guard: 'locks and messages of a lost history',
    file: 'src/db/dedicated-connection.ts',
    pattern: /pool\.options\.isCurrent\?\.\(\) === false/,
    replacement: 'false',
    test: 'test/db/fail-over-sessions.test.ts',
    failingTitle: 'leave an old server that goes on answering',
  },
  {
    guard: 'newer one of two primaries',
    file: 'src/db/servers.ts',
    pattern: /other\.timeline > best\.timeline/,
    replacement: 'false',
    test: 'test/db/several-servers.test.ts',
    failingTitle: 'the one with the newer timeline is right',
  },
];
