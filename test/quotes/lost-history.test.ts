import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { codeOf, type partnerAt } from '../helpers/api.ts';
import { startLostWorld } from '../payments/lost-world.ts';

const { before, lose, newCustomer, newQr, paidOrders } = await startLostWorld();
const lock = async (partner: ReturnType<typeof partnerAt>): Promise<string> =>
  (await partner.post('/v1/quote', { body: { amount_rub: '150.00', lock: true } })).json.quote_id;

/** Until the service has compared its database with the bank side. */
async function untilOpen({ isOpenAfter }: typeof before) {
  let isOpen = false;
  for (let nth = 0; nth < 20 && !isOpen; nth++) isOpen = await isOpenAfter(2_000);
  expect(isOpen).toBe(true);
}

test('a quote that a lost payment has used is not used again, and the payment is rebuilt at its rate', async () => {
  const { liveKey } = await newCustomer();
  const partner = before.as(liveKey);
  const quote_id = await lock(partner);
  const [qr, key] = [await newQr(), randomUUID()];
  const { after, result: paid } = await lose(() => partner.pay({ qr_url: qr.link, quote_id }, key));
  expect(paid.json).toMatchObject({ status: 'succeeded', rate: '92.0375' });

  // The copy has the quote as unused. A payment with another key must not get its rate.
  await untilOpen(after);
  const again = after.as(liveKey);
  expect(codeOf(await again.pay({ qr_url: (await newQr()).link, quote_id }))).toBe('409 quote_expired');
  const repeated = await again.pay({ qr_url: qr.link, quote_id }, key);
  await after.poll();
  expect(repeated.json).toMatchObject({ id: paid.json.id, rate: '92.0375', amount_usdt: '1.629771' });
  expect((await paidOrders()).filter(order => order.payment_id === paid.json.id)).toHaveLength(1);
  await after.expectSoundBooks();
});

test('a quote that was lost is unknown, and no other of before the loss holds', async () => {
  const { liveKey } = await newCustomer();
  const partner = before.as(liveKey);
  const kept = await lock(partner);
  const { after, result: lost } = await lose(() => lock(partner));
  await untilOpen(after);
  const again = after.as(liveKey);
  const pay = async (quote_id: string) => codeOf(await again.pay({ qr_url: (await newQr()).link, quote_id }));
  expect(await pay(lost)).toBe('404 quote_not_found');
  expect(await pay(kept)).toBe('409 quote_expired');
  expect(await pay(await lock(again))).toBe('200 succeeded');
});
