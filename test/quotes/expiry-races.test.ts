import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { findQuoteOf } from '../../src/payments/quotes/quote.ts';
import { openAll } from '../../src/payments/store.ts';
import { issueKey, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { countWaiting, holdLocks } from '../helpers/locks.ts';
import { startQuotesWorld } from './quotes-world.ts';

/*
 * A request arrives twice, before and after its quote expires. If the second one is refused, the first one must not pay any more: its
 * statement may still wait.
 */
const world = await startQuotesWorld();
const { pool, url, clock, lock, paymentWith, newPartner, expectNoPayment } = world;
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

const open = (payment: Parameters<typeof openAll>[2][number], own = clock, db: Queryable = pool) =>
  openAll(db, own, [payment], 'long', {});

test('an opening that waits is refused after its repeat was', async () => {
  const { partnerId, payment, repeat, outwait } = await prepared();
  const account = "SELECT FROM accounts WHERE partner_id = $1 AND mode = 'test' FOR UPDATE";
  const { unlock } = await holdLocks(url, account, [uuidFromId(partnerId)]);
  const opening = open(payment);
  await untilWaiting(1);
  await outwait();
  expect(await repeat()).toMatchObject({ status: 409, json: { error: { code: 'quote_expired' } } });
  await unlock();
  expect(await opening).toMatchObject([{ verdict: 'quote_expired' }]);
  await expectNoPayment(partnerId, 'test');
});

test('a repeat waits for an opening that has used the quote', async () => {
  const { payment, repeat, outwait } = await prepared();
  const { session, unlock } = await holdLocks(url, 'SELECT', []);
  expect(await open(payment, clock, session)).toMatchObject([{ verdict: 'opened' }]);
  await outwait();
  const repeated = repeat();
  await untilWaiting(1);
  await unlock();
  // It has found the payment of its key, which this test has opened for another request.
  expect(await repeated).toMatchObject({ json: { error: { code: 'idempotency_conflict' } } });
});

test('a quote is not ended while an opening with it is under way', async () => {
  const { partnerId, payment, repeat, outwait } = await prepared();
  // The opening looks at the turnover of its key after it has looked at the quote.
  const limited = { ...payment, keyLimit: { keyId: 'k', dailyKopecks: 10_000_000n } };
  await pool.query("INSERT INTO key_unsettled VALUES ('k', gen_random_uuid(), '2020-01-01', 1)");
  const { unlock } = await holdLocks(url, 'SELECT FROM key_unsettled FOR UPDATE', []);
  const opening = open(limited);
  await untilWaiting(1);
  await outwait();
  const repeated = repeat();
  await untilWaiting(2);
  await unlock();
  expect(await opening).toMatchObject([{ verdict: 'opened' }]);
  expect(await repeated).toMatchObject({ json: { error: { code: 'idempotency_conflict' } } });
  expect(await findQuoteOf(pool, payment.paymentId)).toMatchObject({ quoteId: payment.quoteId });
  const ofPartner = { text: 'SELECT FROM payments WHERE partner_id = $1', values: [uuidFromId(partnerId)] };
  expect(await pool.query(ofPartner)).toMatchObject({ rowCount: 1 });
});

test('an opening that finds its quote expired ends it for those that began before', async () => {
  const { partnerId, payment, outwait } = await prepared();
  const startedMs = clock.nowMs();
  await outwait();
  for (const own of [clock, { ...clock, nowMs: () => startedMs }])
    expect(await open(payment, own)).toMatchObject([{ verdict: 'quote_expired' }]);
  await expectNoPayment(partnerId, 'test');
});
