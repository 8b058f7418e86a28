import { randomBytes } from 'node:crypto';
import { createAlarms } from '../alarms/index.ts';
import { OperatorError } from '../base/operator-error.ts';
import { createKeyring } from '../db/secrets/index.ts';
import { createHttpGateway } from '../gateway/index.ts';
import { createReferenceSealer, findRecovering, recoverRound } from '../payments/index.ts';
import type { Step } from './rehearsal.ts';

const silent = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * The restored database waits until the gateway was asked, here a simulator without orders. Only this process uses them, so
 * no late order can arrive: the 20 s that a service waits for one are left out.
 */
export const openStep: Step = {
  name: 'open',
  run: async ({ database, scratch, progress }) => {
    const { pool: db, clock } = database!;
    const before = await findRecovering(db);
    if (!before) throw new OperatorError('The restored database did not wait for the payment gateway.');
    await db.query('UPDATE incarnations SET is_synchronous = true WHERE opened_at IS NULL');
    // Loaded only here: other commands do not need the service and start faster without it.
    const { startSimulator } = await import('../runtime/index.ts');
    const bank = await startSimulator(scratch, progress);
    const gateway = createHttpGateway({ ...bank, clock });
    const alarms = createAlarms({ db, clock, log: silent });
    const references = createReferenceSealer(createKeyring([randomBytes(32).toString('hex')]));
    try {
      await recoverRound({
        db,
        clock,
        gateway,
        alarms,
        references,
        heartbeat: { instance: 0 },
        log: silent,
      });
    } finally {
      await gateway.close();
      await bank.close();
    }
    if (await findRecovering(db))
      throw new OperatorError('The restored database does not match the payment gateway.');
    return `read orders since ${before.certainAt.toISOString()}; payments are accepted (a service waits 20 s for late orders)`;
  },
};
