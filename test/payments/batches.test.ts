import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { createDatabase } from '../helpers/database.ts';
import { openingsOf } from '../helpers/openings.ts';
import { createFundedPartner, setRate } from '../helpers/partners.ts';

const { pool } = await createDatabase();
await setRate(pool);
const opening = await openingsOf(pool, systemClock);
const newPartner = () => createFundedPartner(pool, 1_000_000_000n);
const verdictsOf = (outcomes: PromiseSettledResult<{ verdict: string }>[]) =>
  outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value.verdict : outcome.reason.code));

test('a text that no index can hold fails its own payment, not those of the same batch', async () => {
  const writer = createPaymentWriter(pool, systemClock);
  const partners = [await newPartner(), await newPartner(), await newPartner(), await newPartner()];
  // Random, since PostgreSQL compresses what repeats.
  const changes = [{}, {}, { recipient: randomBytes(3_375).toString('base64') }, {}];
  const outcomes = await Promise.allSettled(
    partners.map((partnerId, nth) => writer.open(opening(partnerId, changes[nth]))),
  );
  expect(verdictsOf(outcomes)).toEqual(['opened', 'opened', '54000', 'opened']);
  expect((await verifyLedger(pool)).findings).toEqual([]);
});
