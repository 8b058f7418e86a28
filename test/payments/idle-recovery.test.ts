import { expect, test } from 'vitest';
import { decidePayment, startRecovery } from '../../src/payments/index.ts';
import { notePauses } from '../helpers/noted-pauses.ts';
import { startRecoveryWorld } from './recovery-world.ts';

const { clock, deps, audit, newCustomer, accepted } = await startRecoveryWorld();

/** The pauses of the polls, and of the search for dead processes. */
async function firstPauses(): Promise<number[]> {
  const noted = notePauses(clock);
  const { stop } = startRecovery({ ...deps, clock: noted.clock });
  await expect.poll(() => noted.pauses.length).toBe(2);
  await stop();
  return noted.pauses.toSorted((a, b) => a - b);
}

test('without unfinished payments it asks every other second, otherwise when the first one is due', async () => {
  expect(await firstPauses()).toEqual([1_500, 2_000]);
  const paymentId = await accepted(await newCustomer());
  // Due 2 s later.
  expect(await firstPauses()).toEqual([1_000, 1_500]);
  clock.advance(1_400);
  expect(await firstPauses()).toEqual([600, 1_500]);
  await decidePayment(audit, paymentId, { outcome: 'failed', reason: 'test' });
});
