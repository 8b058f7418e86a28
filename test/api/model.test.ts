import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { setMaintenance, unblockRecipient } from '../../src/controls/index.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { endOfTime } from '../helpers/clock.ts';
import { recipientOf } from './api-model.ts';
import { expectBalance, type Step, step } from './model-steps.ts';
import { startModelService, startSequence } from './model-world.ts';

/**
 * The API against a model of it: random calls of two partners in both modes, and of the operator, one after the
 * other. The model predicts every status, error code and balance.
 */
const runs = 15;
const service = await startModelService();
const { pool, audit, simulator } = service;

async function compare(steps: Step[]): Promise<void> {
  const world = await startSequence(service);
  try {
    for (const run of steps) await run(world);
    for (const who of [0, 1])
      for (const mode of ['live', 'test'] as const) await expectBalance(world, { who, mode });
  } finally {
    await setMaintenance(audit, false);
    for (const recipient of Object.values(recipientOf)) await unblockRecipient(audit, recipient);
    await simulator.call('DELETE', '/sim/faults');
    // Open payments must not affect the next sequence.
    await pool.query(`UPDATE open_payments SET next_at = 'infinity'`);
  }
}

afterAll(async () => expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]));

test('the API does what a small model of it predicts', async () => {
  const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
  console.info(`MODEL_SEED=${seed}`);
  const deadlineMs = performance.now() + 40_000;
  let isShrinking = false;
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 20, maxLength: 40, size: 'max' }),
    async steps => {
      if (isShrinking && performance.now() > deadlineMs) return;
      await compare(steps).catch(error => {
        // fast-check shrinks a failure for as long as there is time.
        isShrinking = true;
        throw error;
      });
    },
  );
  await fc.assert(property, { seed, numRuns: runs });
});
