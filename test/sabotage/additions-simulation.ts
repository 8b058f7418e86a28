import type { Sabotage } from './sabotage.ts';

const simulation = { test: 'test/simulation/simulation.test.ts', failingTitle: 'whatever goes wrong' };

/** Guards of refunds, keys and further endpoints whose absence the seeds of `npm test` find. */
export const additionsSimulationSabotages: Sabotage[] = [
  {
    guard: 'never more than was paid, in the simulation',
    ...simulation,
    file: 'database/functions/payments_refund.sql',
    pattern: /WHEN before_kopecks \+ next\.amount > paid\.amount_kopecks THEN 'too_much'\n/,
  },
  {
    guard: 'the daily limit of a key, in the simulation',
    ...simulation,
    file: 'database/functions/payments_open.sql',
    pattern: /WHEN next\.key_id IS NOT NULL AND key_spent [^\n]*\n/,
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
