import { expect, test } from 'vitest';
import { createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
await setRate(pool);
const { address } = await startApi({ pool });
const { testKey } = await createPartnerWithKeys(pool);
const partner = partnerAt(address, testKey);

test('all eight endpoints answer as documented', async () => {
  expect((await partner.get('/v1/ping')).status).toBe(200);
  expect((await partner.get('/v1/balance')).json.balance_usdt).toBe('10000.000000');
  expect((await partner.get('/v1/rate')).json.rate).toBe('92.5000');
  expect((await partner.post('/v1/quote', { body: { amount_rub: 100 } })).json.amount_usdt).toBe('1.081082');
  const paid = await partner.pay({ qr_url: newLink(10_000) });
  expect(paid.json).toMatchObject({ status: 'succeeded', amount_usdt: '1.081082' });
  expect((await partner.get(`/v1/payments/${paid.json.id}`)).text).toBe(paid.text);
  expect((await partner.get('/v1/payments')).json.data).toEqual([paid.json]);
  expect((await partner.post('/v1/qr/resolve', { body: { qr_url: newLink(10_000) } })).json.payable).toBe(
    true,
  );
});
