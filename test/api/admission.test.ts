import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { createCustomer, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';

const { pool } = await createDatabase();
await setRate(pool);
const simulator = await startSimulator();
const { address, deps } = await startApi({ pool, gatewayUrl: simulator.address, mostBeforeDebit: 2 });

test('past what it can take, the service says so at once and takes no money', async () => {
  const customer = await createCustomer(pool);
  const partner = partnerAt(address, customer.testKey);
  // Whoever holds the account keeps everybody from being debited.
  const holder = await pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM accounts WHERE partner_id = $1 FOR UPDATE', [
    uuidFromId(customer.partnerId),
  ]);
  const waiting = [partner.pay({ qr_url: newLink(10_000) }), partner.pay({ qr_url: newLink(10_000) })];
  const key = randomUUID();
  const body = { qr_url: newLink(10_000) };
  await expect.poll(deps.admission.isFull).toBe(true);
  const refused = await partner.pay(body, key);
  expect({ status: refused.status, code: refused.json.error.code }).toEqual({
    status: 503,
    code: 'gateway_busy',
  });
  expect(refused.headers.get('retry-after')).toBe('1');
  expect((await partner.get('/v1/ping')).status).toBe(200);
  await holder.query('COMMIT');
  holder.release();
  for (const { status, json } of await Promise.all(waiting))
    expect({ status, payment: json.status }).toEqual({ status: 200, payment: 'succeeded' });
  expect((await partner.pay(body, key)).json.status).toBe('succeeded');
  expect((await partner.get('/v1/payments')).json.data).toHaveLength(3);
});

test('payments that wait for the gateway take no place', async () => {
  const { liveKey } = await createCustomer(pool);
  const partner = partnerAt(address, liveKey);
  const slow = await Promise.all(Array.from({ length: 3 }, () => makeQr(simulator)));
  const answers: ReturnType<typeof partner.pay>[] = [];
  for (const qr of slow) {
    await qr.fault({ on: 'pay', kind: 'delay', ms: 1_500 });
    answers.push(partner.pay({ qr_url: qr.link }));
    await expect.poll(async () => (await partner.get('/v1/payments')).json.data.length).toBe(answers.length);
  }
  expect((await Promise.all(answers)).map(({ json }) => json.status)).toEqual(answers.map(() => 'succeeded'));
});

test('a request that ends before its debit gives its place back', async () => {
  const { testKey } = await createCustomer(pool);
  const partner = partnerAt(address, testKey);
  for (let refused = 0; refused < 5; refused++)
    expect((await partner.pay({ qr_url: 'nonsense' })).json.error.code).toBe('invalid_qr');
  expect((await partner.pay({ qr_url: newLink(10_000) })).json.status).toBe('succeeded');
});
