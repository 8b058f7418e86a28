import { expect, test } from 'vitest';
import { createPartnerWithKeys, partnerAt, setRate } from '../helpers/api.ts';
import { startConsole } from '../helpers/console.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';

const { pool, clock } = await createTimedDatabase();
const simulator = await openSimulator();
const { address, signIn } = await startConsole({ pool, clock, gatewayUrl: simulator.address });
await setRate(pool, clock);
const viewer = await signIn('viewer');

async function newPartner() {
  const { partnerId, liveKey, testKey } = await createPartnerWithKeys(pool);
  const [live, test] = [liveKey, testKey].map(key => partnerAt(address, key));
  return { partnerId, live: live!, test: test! };
}
const lock = async (partner: ReturnType<typeof partnerAt>): Promise<string> =>
  (await partner.post('/v1/quote', { body: { amount_rub: '150.00', lock: true } })).json.quote_id;

test('the console shows what is locked, by a partner and in all, and with which quote a payment was made', async () => {
  const [one, other] = [await newPartner(), await newPartner()];
  const quote_id = await lock(one.live);
  await lock(one.live);
  await lock(other.test);
  const quotesOf = async (path: string) => (await viewer.get(path)).json.quotes;
  const locked = { locked_usdt: '3.259542', count: 2 };
  expect(await quotesOf('/overview')).toEqual({ ...locked, max_usdt: '50000.000000' });
  expect(await quotesOf(`/partners/${one.partnerId}`)).toEqual({ ...locked, max_usdt: '5000.000000' });
  expect(await quotesOf(`/partners/${other.partnerId}`)).toMatchObject({ count: 0 });

  const payments = [];
  for (const more of [{ quote_id }, {}]) {
    const { link } = await makeQr(simulator);
    payments.push((await one.live.pay({ qr_url: link, ...more })).json.id);
  }
  const quoteOf = async (id: string) => (await viewer.get(`/payments/${id}`)).json.payment.quote;
  const locked_at = new Date(clock.nowMs()).toISOString();
  expect(await quoteOf(payments[0])).toEqual({ quote_id, locked_at, spread_percent: 0.5 });
  expect(await quoteOf(payments[1])).toBeNull();
  expect(await quotesOf(`/partners/${one.partnerId}`)).toMatchObject({ count: 1 });
});
