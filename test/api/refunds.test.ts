import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { createPaymentSignals } from '../../src/payments/index.ts';
import { refundRound } from '../../src/payments/refunds/read-refunds.ts';
import {
  addEndpoint,
  contractEvents,
  createVault,
  type EventKind,
  findDelivery,
  firstEndpointOf,
  resendEvent,
  setEvents,
  setWebhook,
} from '../../src/webhooks/index.ts';
import { createPartnerWithKeys, keyring, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';

const { pool, audit } = await createDatabase();
const simulator = await openSimulator();
const { address, deps } = await startApi({ pool, gatewayUrl: simulator.address });
const { liveKey, testKey, partnerId } = await createPartnerWithKeys(pool);
const partner = partnerAt(address, liveKey);
const log = { info: () => {}, warn: () => {}, error: () => {} };

beforeAll(() => pool.query(`UPDATE service SET refunds_from = now() - interval '1 minute'`));
beforeEach(() => setRate(pool));

const readAll = () => refundRound({ ...deps, pool, db: pool, log, signals: createPaymentSignals() });
const refund = async (id: string, body: object = {}) =>
  (await simulator.call('POST', `/sim/orders/${id}/refunds`, body)).body;

async function pay() {
  const qr = await makeQr(simulator, { amount_kopecks: 30_510 });
  const key = `key ${qr.qrc_id}`;
  const { json, text } = await partner.pay({ qr_url: qr.link, metadata: { a: 1 } }, key);
  expect(json.status).toBe('succeeded');
  return {
    id: json.id as string,
    text,
    again: () => partner.pay({ qr_url: qr.link, metadata: { a: 1 } }, key),
  };
}

describe('a payment', () => {
  test('has the refunded fields only once there is a refund, wherever it is read', async () => {
    const { id, text, again } = await pay();
    const one = () => partner.get(`/v1/payments/${id}`);
    const listed = async () =>
      (await partner.get('/v1/payments?limit=1')).text.replace(/^\{"data":\[(.*)\],"has_more.*$/, '$1');
    expect((await one()).text).toBe(text);
    expect(await listed()).toBe(text);

    await refund(id, { amount_kopecks: 10_000 });
    await readAll();
    const fields = '"refunded_rub":"100.00","refunded_usdt":"1.081081",';
    const after = text.replace('"metadata"', `${fields}"metadata"`);
    expect((await one()).text).toBe(after);
    expect(await listed()).toBe(after);
    const replayed = await again();
    expect(replayed.text).toBe(after);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');

    await refund(id);
    await readAll();
    const { json } = await one();
    expect(json).toMatchObject({
      status: 'succeeded',
      refunded_rub: '305.10',
      refunded_usdt: json.amount_usdt,
    });
  });

  test('gives its money back to the balance, with an entry in the statement', async () => {
    const balance = async () => Number((await partner.get('/v1/balance')).json.balance_usdt);
    const { id } = await pay();
    const before = await balance();
    const { refund_id } = await refund(id);
    await readAll();
    const amount = (await partner.get(`/v1/payments/${id}`)).json.amount_usdt;
    expect(await balance()).toBeCloseTo(before + Number(amount), 6);
    const day = new Date(clock.nowMs()).toISOString().slice(0, 10);
    const { json } = await partner.get(`/v1/statement?day=${day}`);
    expect(json.entries.at(-1)).toMatchObject({
      ...{ kind: 'refund', from: 'settled', to: 'available', amount_usdt: amount, payment_id: id },
      reference: `refund:${refund_id}`,
    });
    const headers = { authorization: `Bearer ${liveKey}` };
    const csv = await fetch(`${address}/v1/statement?day=${day}&format=csv`, { headers });
    expect(await csv.text()).toContain(`,refund,settled,available,${amount},`);
  });
});

describe('events', () => {
  const feed = async (query: string) => (await partner.get(`/v1/events?${query}`)).json;
  const isOf = (id: string) => (event: { data: { id: string } }) => event.data.id === id;

  test('the feed has refunds only for readers that ask, and its positions are one order', async () => {
    const start = (await feed('after=latest')).next_cursor;
    const { id } = await pay();
    const end = (await feed(`after=${start}`)).data;
    await refund(id, { amount_kopecks: 100 });
    await readAll();
    const other = await pay();
    await refund(id, { amount_kopecks: 200 });
    await readAll();

    const without = (await feed(`after=${start}`)).data;
    expect(without.map((one: { event: string }) => one.event)).toEqual(Array(2).fill('payment.succeeded'));
    expect(without[0]).toEqual(end[0]);
    const all = (await feed(`after=${start}&extra_events=payment.refunded`)).data;
    type Event = { event: string; data: { id: string; refunded_rub?: string } };
    expect(all.map(({ event, data }: Event) => [event, data.id, data.refunded_rub])).toEqual([
      ['payment.succeeded', id, undefined],
      ['payment.refunded', id, '1.00'],
      ['payment.succeeded', other.id, undefined],
      ['payment.refunded', id, '3.00'],
    ]);
    const [, first, , second] = all;
    expect((await feed(`after=${first.id}`)).data).toHaveLength(1);
    expect((await feed(`after=${first.id}&limit=1&extra_events=payment.refunded`)).has_more).toBe(true);
    expect((await feed('after=latest')).next_cursor).toBe(second.id);
    expect((await partnerAt(address, testKey).get(`/v1/events?after=${first.id}`)).status).toBe(404);
    expect((await feed(`after=${second.id}`)).data).toEqual([]);
  });

  test('a webhook gets refunds only if it asks, with the totals of that moment', async () => {
    await setWebhook(audit, createVault(keyring), partnerId, 'https://example.com/hook');
    const { id } = await pay();
    const queued = async () => {
      const { rows } = await pool.query<{ event_id: bigint }>(
        'SELECT event_id FROM deliveries d JOIN refunds USING (partner_id, event_id) ORDER BY 1',
      );
      return rows.map(row => row.event_id);
    };
    await refund(id, { amount_kopecks: 100 });
    await readAll();
    expect(await queued()).toEqual([]);
    const first = { partnerId, endpointId: firstEndpointOf(partnerId) };
    expect(await setEvents(audit, first, [...contractEvents, 'payment.refunded'])).toBe('set');
    await refund(id, { amount_kopecks: 200 });
    await readAll();
    const [eventId] = await queued();
    const sent = async () => (await findDelivery(pool, partnerId, eventId!))!;
    const { body, headers, delivery } = await sent();
    expect(delivery).toMatchObject({ outcome: 'refunded', state: 'pending', paymentId: id });
    expect(headers).toMatchObject({ 'x-service-event': 'payment.refunded', 'x-service-payment-id': id });
    expect(JSON.parse(body)).toMatchObject({
      event: 'payment.refunded',
      data: { id, status: 'succeeded', refunded_rub: '3.00' },
    });
    const listed = (await feed('extra_events=payment.refunded&limit=100')).data.filter(isOf(id)).at(-1);
    expect(JSON.parse(body)).toEqual(listed);

    await refund(id);
    await readAll();
    expect((await sent()).body).toBe(body);
    const resend = (endpointId?: Id<'whe'>) => resendEvent(audit, eventId!, { endpointId });
    expect(await resend()).toMatchObject({ outcome: 'queued' });
    await setEvents(audit, first, contractEvents);
    for (const endpoint of [undefined, first.endpointId])
      expect(await resend(endpoint)).toEqual({ outcome: 'no_webhook' });
  });

  test('further endpoints get the ends and the refunds that they ask for', async () => {
    const add = async (events: EventKind[], mode: 'live' | 'test' = 'live') => {
      const url = 'https://example.com/books';
      const added = await addEndpoint(audit, createVault(keyring), partnerId, { mode, url, events });
      if (added.outcome !== 'added') throw new Error(added.outcome);
      return added.endpointId;
    };
    const [ends, refunds, failures, ofTests] = [
      await add(['payment.succeeded']),
      await add(['payment.refunded']),
      await add(['payment.failed']),
      await add(['payment.succeeded', 'payment.refunded'], 'test'),
    ];
    const { id } = await pay();
    await refund(id, { amount_kopecks: 100 });
    await readAll();
    const kindsFor = async (endpointId: Id<'whe'>) => {
      const { rows } = await pool.query<{ event_id: bigint }>(
        'SELECT event_id FROM deliveries WHERE endpoint_id = $1 ORDER BY 1',
        [uuidFromId(endpointId)],
      );
      const found = await Promise.all(
        rows.map(row => findDelivery(pool, partnerId, row.event_id, endpointId)),
      );
      return found.map(one => one!.headers['x-service-event']);
    };
    expect(await Promise.all([ends, refunds, failures, ofTests].map(kindsFor))).toEqual([
      ['payment.succeeded'],
      ['payment.refunded'],
      [],
      [],
    ]);
  });

  test('the body of the end of a payment stays the same bytes', async () => {
    const { id } = await pay();
    const { rows } = await pool.query<{ id: bigint }>('SELECT max(id) AS id FROM events');
    const body = async () => (await findDelivery(pool, partnerId, rows[0]!.id))!.body;
    const before = await body();
    await refund(id);
    await readAll();
    expect(await body()).toBe(before);
  });
});
