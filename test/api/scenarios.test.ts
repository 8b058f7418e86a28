import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, test as base, beforeEach, describe, expect } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { readBalances, verifyLedger } from '../../src/ledger/index.ts';
import { countInReview, listReview, paymentGauges, scenarios } from '../../src/payments/index.ts';
import { startDelivery } from '../../src/webhooks/delivery/worker.ts';
import { createSender, createVault, listAttempts, setWebhook } from '../../src/webhooks/index.ts';
import { codeOf, keyring, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { endOfTime } from '../helpers/clock.ts';
import { auditContextOf, createTimedDatabase } from '../helpers/database.ts';
import { readGauges } from '../helpers/gauges.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';
import { startReceiver, withStatus } from '../helpers/webhook-receiver.ts';

const { pool, clock } = await createTimedDatabase();
const simulator = await openSimulator();
const api = await startApi({ pool, clock, gatewayUrl: simulator.address });
const { deps } = api;
const vault = createVault(keyring);
const sender = createSender({ clock, allowPrivate: true, timeoutMs: 10_000 });
const sending = { ...deps, vault, sender, webhookRetryScheduleSec: [0, 10, 30, 120] };
let delivery = startDelivery(sending);
afterAll(() => clock.during(delivery.stop()));
afterAll(() => sender.close());
beforeEach(() => setRate(pool, clock));
afterEach(async () => {
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
});

const asking = (kopeck_scenario: unknown, kopecks = 10_000) => ({
  qr_url: newLink(kopecks),
  metadata: { kopeck_scenario, own: 1 },
});

async function newPartner() {
  const partner = await api.newPartner();
  const receiver = await startReceiver();
  await setWebhook(auditContextOf(pool, clock), vault, partner.partnerId, receiver.url);
  const deliveredIds = () => receiver.received.map(({ json }) => json.data.id);
  const untilApplied = (ids: string[]) => clock.until(() => expect(deliveredIds()).toEqual(ids));
  const payments = async () => (await partner.get('/v1/payments')).json.data;
  return { ...partner, receiver, deliveredIds, untilApplied, payments };
}
const untouched = { availableMicroUsdt: 10_000_000_000n, heldMicroUsdt: 0n, settledMicroUsdt: 0n };
/** What is due would have been sent. */
const quietly = () => clock.rounds(5);

const untilSent = () =>
  clock.until(async () => expect((await pool.query('SELECT FROM deliveries')).rowCount).toBe(0));
const untilHeld = () =>
  clock.until(async () =>
    expect((await pool.query('SELECT FROM deliveries WHERE held_at IS NOT NULL')).rowCount).toBe(1),
  );
const test = base.extend('partner', () => newPartner());

describe('answer_lost', () => {
  test.each([10_000, 10_002])('the payment over %i exists, and a repeat returns it', async kopecks => {
    const partner = await newPartner();
    const [body, key] = [asking('answer_lost', kopecks), randomUUID()];
    await expect(partner.pay(body, key)).rejects.toThrow('fetch failed');
    const [payment] = await partner.payments();
    expect(payment).toMatchObject({ metadata: body.metadata });
    const repeat = await partner.pay(body, key);
    expect(repeat.json).toEqual(payment);
    expect(repeat.headers.get('idempotent-replayed')).toBe('true');
    expect(await partner.payments()).toHaveLength(1);
  });

  test('is lost once, also for concurrent repeats', async ({ partner }) => {
    const [body, key] = [asking('answer_lost'), randomUUID()];
    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => partner.pay(body, key)));
    expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await partner.payments()).toHaveLength(1);
  });
});

describe('unavailable_twice', () => {
  test('two refusals that debit nothing, then the payment, by key and also after a restart', async () => {
    const partner = await newPartner();
    const [body, key] = [asking('unavailable_twice'), randomUUID()];
    const refuse = async (at: typeof partner, idempotencyKey: string) => {
      const refused = await at.pay(body, idempotencyKey);
      const said = [codeOf(refused), refused.headers.get('retry-after')];
      expect(said).toEqual(['503 gateway_unavailable', '1']);
    };
    await refuse(partner, key);
    await refuse(partner, randomUUID());
    const next = await startApi({ pool, clock });
    await refuse({ ...partner, ...partnerAt(next.address, partner.testKey) }, key);
    expect((await readBalances(pool, partner.partnerId)).test).toEqual(untouched);
    expect(await partner.payments()).toEqual([]);
    const accepted = await partner.pay(body, key);
    expect(accepted.json).toMatchObject({ status: 'succeeded' });
    expect((await partner.pay(body, key)).json).toEqual(accepted.json);
  });

  test('a request that would be refused anyway is refused for its own reason', async ({ partner }) => {
    const wrong = { ...asking('unavailable_twice'), amount_rub: '7.00' };
    expect((await partner.pay(wrong)).json.error.code).toBe('amount_mismatch');
    expect((await partner.pay(asking('answer_lost', 10_003))).json.error.code).toBe('qr_changed');
  });
});

test('rate_stale: every request is refused, and the key stays free', async ({ partner }) => {
  const [body, key] = [asking('rate_stale'), randomUUID()];
  for (let times = 0; times < 3; times++) {
    expect(codeOf(await partner.pay(body, key))).toBe('503 rate_unavailable');
  }
  expect((await readBalances(pool, partner.partnerId)).test).toEqual(untouched);
  expect((await partner.pay({ qr_url: body.qr_url }, key)).json.status).toBe('succeeded');
});

describe('a review', () => {
  test.each([
    ['review_succeeds', 10_001, 'succeeded'],
    ['review_fails', 10_000, 'failed'],
  ])('%s over %i: in review at once, %s after two minutes and no sooner', async (scenario, kopecks, end) => {
    const partner = await newPartner();
    const [body, key] = [asking(scenario, kopecks), randomUUID()];
    const { json } = await partner.pay(body, key);
    expect(json).toMatchObject({ status: 'processing', status_detail: 'manual_review', settled_at: null });
    const look = async () => (await partner.get(`/v1/payments/${json.id}`)).json;
    expect(await look()).toEqual(json);
    expect((await partner.pay(body, key)).json).toEqual(json);
    // It does not appear for operators.
    expect([await listReview(pool, { limit: 10 }), await countInReview(pool)]).toMatchObject([
      { payments: [] },
      { count: 0 },
    ]);
    expect(await readGauges(pool, paymentGauges)).toContain(
      'kopeck_payments_unfinished{state="manual_review"} 0',
    );
    clock.advance(119_999);
    await recoverDuePayments(deps);
    expect(await look()).toEqual(json);
    clock.advance(1);
    // By another process, which has only the stored state.
    await recoverDuePayments((await startApi({ pool, clock })).deps);
    expect(await look()).toMatchObject({ status: end, metadata: body.metadata });
    const { heldMicroUsdt, settledMicroUsdt } = (await readBalances(pool, partner.partnerId)).test;
    expect([heldMicroUsdt, settledMicroUsdt > 0n]).toEqual([0n, end === 'succeeded']);
    await partner.untilApplied([json.id]);
  });
});

describe('webhook_twice', () => {
  test('the same event a second time after it was delivered, and no third', async ({ partner }) => {
    const { id } = (await partner.pay(asking('webhook_twice'))).json;
    await partner.untilApplied([id, id]);
    await untilSent();
    await quietly();
    const [one, two, ...more] = partner.receiver.received;
    expect(more).toEqual([]);
    expect(two!.body).toBe(one!.body);
    expect(two!.headers['x-service-delivery']).toBe(one!.headers['x-service-delivery']);
  });

  test('also when the first attempts fail and the process that sends is another one', async ({ partner }) => {
    partner.receiver.answer(withStatus(500));
    const { id } = (await partner.pay(asking('webhook_twice'))).json;
    await clock.until(async () => expect(await listAttempts(pool, partner.partnerId, 9)).toHaveLength(1));
    await clock.during(delivery.stop());
    delivery = startDelivery(sending);
    partner.receiver.answer(withStatus(204));
    clock.advance(10_000);
    await partner.untilApplied([id, id, id]);
    await untilSent();
    const attempts = await listAttempts(pool, partner.partnerId, 9);
    expect(attempts.map(({ status }) => status)).toEqual([204, 204, 500]);
  });
});

describe('webhooks_out_of_order', () => {
  test('the event is sent after the next one', async ({ partner }) => {
    const held = (await partner.pay(asking('webhooks_out_of_order'))).json.id;
    await quietly();
    expect(partner.deliveredIds()).toEqual([]);
    const next = (await partner.pay(asking(undefined))).json.id;
    await partner.untilApplied([next, held]);
    const feed = (await partner.get('/v1/events')).json.data;
    expect(feed.map(({ data }: { data: { id: string } }) => data.id)).toEqual([held, next]);
  });

  test('two payments with this scenario swap their events', async ({ partner }) => {
    const first = (await partner.pay(asking('webhooks_out_of_order'))).json.id;
    await untilHeld();
    const second = (await partner.pay(asking('webhooks_out_of_order'))).json.id;
    await partner.untilApplied([second, first]);
  });

  test('without another event it is sent after 30 seconds, also after a restart', async ({ partner }) => {
    const held = (await partner.pay(asking('webhooks_out_of_order'))).json.id;
    await untilHeld();
    await clock.during(delivery.stop());
    delivery = startDelivery(sending);
    clock.advance(29_999);
    await quietly();
    expect(partner.deliveredIds()).toEqual([]);
    clock.advance(1);
    await partner.untilApplied([held]);
  });
});

test.each(['toString', 7, null, ['answer_lost']])('other metadata have no effect: %j', async value => {
  const partner = await newPartner();
  const body = asking(value);
  const { json } = await partner.pay(body);
  expect(json).toMatchObject({ status: 'succeeded', metadata: body.metadata });
  await partner.untilApplied([json.id]);
});

test('no scenario for live payments: they are paid, answered and delivered as usual', async ({ partner }) => {
  const { live } = partner;
  const ids: string[] = [];
  for (const kopeck_scenario of Object.keys(scenarios)) {
    const { link } = await makeQr(simulator);
    const paid = await live.pay({ qr_url: link, metadata: { kopeck_scenario } });
    expect(`${kopeck_scenario} ${codeOf(paid)}`).toBe(`${kopeck_scenario} 200 succeeded`);
    ids.push(paid.json.id);
    await partner.untilApplied(ids);
  }
  await quietly();
  expect(partner.deliveredIds()).toEqual(ids);
  const counted = await pool.query('SELECT FROM test_refusals WHERE partner_id = $1', [
    uuidFromId(partner.partnerId),
  ]);
  expect(counted.rowCount).toBe(0);
});
