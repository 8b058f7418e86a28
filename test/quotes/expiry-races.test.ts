import { expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { transaction } from '../../src/db/postgres/pool.ts';
import { findQuoteOf } from '../../src/payments/quotes/quote.ts';
import { openAll } from '../../src/payments/store.ts';
import { issueKey, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { countWaiting } from '../helpers/locks.ts';
import { startQuotesWorld } from './quotes-world.ts';

/*
 * A request arrives twice, before and after its quote expires. If the second one is refused, the first one must not pay any more: its
 * statement may still wait.
 */
const world = await startQuotesWorld();
const { pool, clock, lock, paymentWith, newPartner, expectNoPayment } = world;
const { address } = await startApi({ pool, clock });

/** A payment that is about to be opened, and the same request as it arrives after the quote has expired. */
async function prepared() {
  const partnerId = await newPartner();
  const quote = await lock(partnerId, { mode: 'test' });
  const payment = paymentWith(partnerId, quote, { mode: 'test' });
  const key = await issueKey(pool, partnerId, 'test');
  const repeat = () =>
    partnerAt(address, key).pay({ qr_url: newLink(15_000), quote_id: quote.quoteId }, payment.idempotencyKey);
  const outwait = async () => {
    clock.advance(quote.expiresAt.getTime() - clock.nowMs());
    await setRate(pool, clock);
  };
  return { partnerId, payment, repeat, outwait };
}

const untilWaiting = (count: number) => clock.until(async () => expect(await countWaiting(pool)).toBe(count));

/** The session of a test that is slow may stay idle for longer than those of the service. */
const stayIdle = { text: 'SET LOCAL idle_in_transaction_session_timeout = 0' };
const lockAccount = (partnerId: Id<'prt'>) => ({
  text: `SELECT FROM accounts WHERE partner_id = $1 AND mode = 'test' FOR UPDATE`,
  values: [uuidFromId(partnerId)],
});
test('an opening that waits is refused after its repeat was', async () => {
  const { partnerId, payment, repeat, outwait } = await prepared();
  let opening: ReturnType<typeof openAll> | undefined;
  await transaction(pool, async tx => {
    await tx.query(stayIdle);
    await tx.query(lockAccount(partnerId));
    opening = openAll(pool, clock, [payment], 'long', {});
    await untilWaiting(1);
    await outwait();
    expect(await repeat()).toMatchObject({ status: 409, json: { error: { code: 'quote_expired' } } });
  });
  expect(await opening).toMatchObject([{ verdict: 'quote_expired' }]);
  await expectNoPayment(partnerId, 'test');
});

test('a repeat waits for an opening that has used the quote', async () => {
  const { payment, repeat, outwait } = await prepared();
  let repeated: ReturnType<typeof repeat> | undefined;
  await transaction(pool, async tx => {
    await tx.query(stayIdle);
    expect(await openAll(tx, clock, [payment], 'long', {})).toMatchObject([{ verdict: 'opened' }]);
    await outwait();
    repeated = repeat();
    await untilWaiting(1);
  });
  // It has found the payment of its key, which this test has opened for another request.
  expect(await repeated).toMatchObject({ json: { error: { code: 'idempotency_conflict' } } });
});

test('a quote is not ended while an opening with it is under way', async () => {
  const { partnerId, payment, repeat, outwait } = await prepared();
  // The opening looks at the turnover of its key after it has looked at the quote.
  const limited = { ...payment, keyLimit: { keyId: 'k', dailyKopecks: 10_000_000n } };
  await pool.query("INSERT INTO key_unsettled VALUES ('k', gen_random_uuid(), '2020-01-01', 1)");
  let opening: ReturnType<typeof openAll> | undefined;
  let repeated: ReturnType<typeof repeat> | undefined;
  await transaction(pool, async tx => {
    await tx.query(stayIdle);
    await tx.query({ text: 'SELECT FROM key_unsettled FOR UPDATE' });
    opening = openAll(pool, clock, [limited], 'long', {});
    await untilWaiting(1);
    await outwait();
    repeated = repeat();
    await untilWaiting(2);
  });
  expect(await opening).toMatchObject([{ verdict: 'opened' }]);
  expect(await repeated).toMatchObject({ json: { error: { code: 'idempotency_conflict' } } });
  expect(await findQuoteOf(pool, payment.paymentId)).toMatchObject({ quoteId: payment.quoteId });
  expect(
    await pool.query('SELECT FROM payments WHERE partner_id = $1', [uuidFromId(partnerId)]),
  ).toMatchObject({
    rowCount: 1,
  });
});

test('an opening that finds its quote expired ends it for those that began before', async () => {
  const { partnerId, payment, outwait } = await prepared();
  const startedMs = clock.nowMs();
  await outwait();
  expect(await openAll(pool, clock, [payment], 'long', {})).toMatchObject([{ verdict: 'quote_expired' }]);
  const earlier = { ...clock, nowMs: () => startedMs };
  expect(await openAll(pool, earlier, [payment], 'long', {})).toMatchObject([{ verdict: 'quote_expired' }]);
  await expectNoPayment(partnerId, 'test');
});
