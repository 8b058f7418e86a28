/** The main paths of the contract with a partner in each of four shards. `npm run test:shards` runs all of them so. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createSender, createVault, setWebhook } from '../../src/webhooks/index.ts';
import { issueKey, keyring, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { endOfTime, manualClock } from '../helpers/clock.ts';
import { auditContextOf } from '../helpers/database.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { startDeliveries } from '../helpers/shards.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { startShardsWorld } from './shards-world.ts';

const { all: pool, newPartner } = await startShardsWorld(4);
const clock = manualClock();
const simulator = await startSimulator();
const { address, deps } = await startApi({ pool, clock, gatewayUrl: simulator.address, answerWithinMs: 0 });
const vault = createVault(keyring);
const sender = createSender({ allowPrivate: true });
const delivery = startDeliveries({ ...deps, vault, sender, webhookRetryScheduleSec: [0, 10] });
afterAll(async () => {
  await delivery.stop();
  await sender.close();
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
});
beforeEach(() => setRate(pool, clock));

const customers = await Promise.all(
  [0, 1, 2, 3].map(async shard => {
    const partnerId = await newPartner(shard);
    const receiver = await startReceiver();
    await setWebhook(auditContextOf(pool, clock), vault, partnerId, receiver.url);
    return { shard, receiver, ...partnerAt(address, await issueKey(pool, partnerId, 'live')) };
  }),
);

test.each(customers)('in shard $shard: a payment, its repeat, its reads and its webhook', async partner => {
  const qr = await makeQr(simulator);
  const key = randomUUID();
  const paid = await partner.pay({ qr_url: qr.link }, key);
  expect(paid.json.status).toBe('succeeded');
  const repeated = await partner.pay({ qr_url: qr.link }, key);
  expect([repeated.text, repeated.headers.get('idempotent-replayed')]).toEqual([paid.text, 'true']);
  expect((await partner.pay({ qr_url: qr.link, external_id: 'other' }, key)).json.error.code).toBe(
    'idempotency_conflict',
  );
  expect((await partner.get(`/v1/payments/${paid.json.id}`)).text).toBe(paid.text);
  expect((await partner.get('/v1/payments')).json.data).toEqual([paid.json]);
  expect((await partner.get('/v1/balance')).json.balance_usdt).toBe('998.378378');
  const [event] = (await partner.get('/v1/events')).json.data;
  expect(event).toMatchObject({ event: 'payment.succeeded', data: paid.json });
  await vi.waitFor(() => expect(partner.receiver.received.map(({ json }) => json)).toEqual([event]), 5_000);
});

test('a payment is invisible to partners of the other shards', async () => {
  const [one, ...others] = customers;
  const { id } = (await one!.get('/v1/payments')).json.data[0];
  for (const other of others)
    expect((await other.get(`/v1/payments/${id}`)).json.error.code).toBe('not_found');
});

test('one code, asked for from all shards at once: one payment; after its end the next one', async () => {
  const qr = await makeQr(simulator, { reusable: true });
  await qr.fault({ on: 'pay', kind: 'answer_lost', times: 1 });
  const answers = await Promise.all(customers.map(partner => partner.pay({ qr_url: qr.link })));
  expect(answers.map(({ json }) => json.error?.code ?? json.status).toSorted()).toEqual([
    ...Array(3).fill('duplicate_qr_in_flight'),
    'processing',
  ]);
  const paying = answers.findIndex(({ status }) => status === 200);
  clock.advance(2_000);
  await recoverDuePayments(deps);
  const { id } = answers[paying]!.json;
  expect((await customers[paying]!.get(`/v1/payments/${id}`)).json.status).toBe('succeeded');
  const next = await customers[(paying + 1) % 4]!.pay({ qr_url: qr.link });
  expect(next.json.status).toBe('succeeded');
});

test.each(customers)('in shard $shard: recovery finishes a payment whose answer was lost', async partner => {
  const qr = await makeQr(simulator);
  await qr.fault({ on: 'pay', kind: 'answer_lost', times: 1 });
  const { id } = (await partner.pay({ qr_url: qr.link })).json;
  clock.advance(2_000);
  await recoverDuePayments(deps);
  expect((await partner.get(`/v1/payments/${id}`)).json.status).toBe('succeeded');
});
