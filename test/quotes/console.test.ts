import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { startConsole } from '../helpers/console.ts';
import { startQuotesWorld } from './quotes-world.ts';

const { pool, clock, writer, lock, paymentWith, newPartner } = await startQuotesWorld();
const { signIn } = await startConsole({ pool, clock });
const viewer = await signIn('viewer');

test('the console shows what is locked, by a partner and in all, and with which quote a payment was made', async () => {
  const [partnerId, other] = [await newPartner(), await newPartner()];
  const quote = await lock(partnerId);
  await lock(partnerId);
  await lock(other, { mode: 'test' });
  const locked = { locked_usdt: '3.259542', count: 2 };
  expect((await viewer.get('/overview')).json.quotes).toEqual({ ...locked, max_usdt: '50000.000000' });
  expect((await viewer.get(`/partners/${partnerId}`)).json.quotes).toEqual({
    ...locked,
    max_usdt: '5000.000000',
  });
  expect((await viewer.get(`/partners/${other}`)).json.quotes).toMatchObject({ count: 0 });

  const [payment, plain] = [
    paymentWith(partnerId, quote),
    paymentWith(partnerId, quote, { quoteId: undefined, rateStaleAt: new Date('2030-01-01') }),
  ];
  for (const one of [payment, plain]) expect((await writer.open(one)).verdict).toBe('opened');
  expect((await viewer.get(`/payments/${payment.paymentId}`)).json.payment.quote).toEqual({
    quote_id: quote.quoteId,
    locked_at: new Date(clock.nowMs()).toISOString(),
    spread_percent: 0.5,
  });
  expect((await viewer.get(`/payments/${plain.paymentId}`)).json.payment.quote).toBeNull();
  expect((await viewer.get(`/partners/${partnerId}`)).json.quotes).toMatchObject({ count: 1 });
  const { rowCount } = await pool.query('SELECT FROM locked_quotes WHERE payment_id = $1', [
    uuidFromId(payment.paymentId),
  ]);
  expect(rowCount).toBe(1);
});
