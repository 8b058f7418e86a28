import type { Sabotage } from './sabotage.ts';

const simulation = { test: 'test/simulation/simulation.test.ts', failingTitle: 'whatever goes wrong' };

const killed = { test: 'test/simulation/crash-points.test.ts' };

/** Guards of crashes, refunds, keys and further endpoints whose absence the simulation of `npm test` finds. */
export const additionsSimulationSabotages: Sabotage[] = [
  {
    guard: 'void before not_executed, when a process dies',
    ...killed,
    file: 'src/payments/recovery/poll-payment.ts',
    pattern: /await deps\.gateway\.void\(payment\) : polled/,
    replacement: `({ outcome: 'voided' } as const) : polled`,
    failingTitle: 'during pay: very late',
  },
  {
    guard: 'take-over from a dead process',
    ...killed,
    file: 'src/payments/recovery/recover.ts',
    pattern: /await releaseLeases\(db, clock, dead\);/,
    replacement: 'void releaseLeases;',
    failingTitle: 'after payments_open: success',
  },
  {
    guard: 'the debit comes before the order, when a process dies',
    ...killed,
    file: 'src/payments/create/create.ts',
    pattern: /const opened = await openPayment\(deps, caller, payment\);/,
    replacement: `if (caller.mode === 'live') void deps.gateway.pay({ ...payment, reference: '' });
  const opened = await openPayment(deps, caller, payment);`,
    failingTitle: 'before payments_open: success',
  },
  {
    guard: 'never more than was paid, in the simulation',
    ...simulation,
    file: 'database/functions/payments_refund.sql',
    pattern: /WHEN before_kopecks \+ next\.amount > paid\.amount_kopecks THEN 'too_much'\n/,
  },
  {
    guard: 'the daily limit of a key, in the simulation',
    ...simulation,
    file: 'database/functions/payments_open_limited.sql',
    pattern: /IF spent \+ next\.amount_kopecks <= next\.most THEN/,
    replacement: 'IF true THEN',
  },
  {
    guard: 'the end of a key, in the simulation',
    ...simulation,
    file: 'src/partners/authenticate.ts',
    pattern: / \|\| now\.getTime\(\) >= found\.expiresMs/,
  },
  {
    guard: 'a removed endpoint takes its outbox along, in the simulation',
    ...simulation,
    file: 'src/webhooks/admin/further-endpoints.ts',
    pattern: /await tx\.query\(\{ text: `DELETE FROM \$\{deliveries\}[^\n]*\n/,
    replacement: 'void deliveries;\n',
  },
];
