import { afterAll, describe, expect, test } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { nextLoopTurn } from '../../src/db/batching/batch.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { createCallLog, createHttpGateway, listCalls, pruneCalls } from '../../src/gateway/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase, newPaymentId } from '../helpers/database.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { requester } from './orders.ts';

const { pool } = await createDatabase();
const token = 'a-token-that-nobody-may-see';

const bank = await startLocalServer();
const { url } = bank;

const warnings: string[] = [];
const log = { warn: (_details: object, message: string) => void warnings.push(message) };

function start(db: Queryable = pool, maxWaiting?: number) {
  const calls = createCallLog({ db, clock, log, ...(maxWaiting ? { maxWaiting } : {}) });
  const gateway = createHttpGateway({ url, token, clock, onCall: calls.record });
  afterAll(() => gateway.close());
  return { calls, gateway };
}

const orderOf = (paymentId = newPaymentId()) => ({
  ...{ partnerId: requester.partnerId, paymentId, qrUrl: `https://qr.nspk.ru/${paymentId}`, qrcId: 'AD1' },
  ...{ amountKopecks: 15_000n, fingerprint: 'f', reference: 'x'.repeat(400) },
});

describe('calls to the gateway', () => {
  test('are stored with both bodies and the outcome', async () => {
    const { calls, gateway } = start();
    const order = orderOf();
    bank.answerWith('{"qrc_id":"AD1","scenario":"C2B"}');
    await gateway.resolve(order.qrUrl, requester);
    bank.answerWith('{"order_id":"o1","state":"accepted"}');
    await gateway.pay(order);
    bank.answerWith('{"code":"ORDER_UNKNOWN"}', 404);
    await gateway.poll(order);
    bank.answerWith('{"state":"voided"}');
    await gateway.void(order);
    await calls.stop();

    const said = await listCalls(pool, order.paymentId);
    expect(said.map(({ call, status, outcome }) => [call, status, outcome])).toEqual([
      ['resolve', 200, 'qr_unresolvable'],
      ['pay', 200, 'accepted'],
      ['poll', 404, 'order_unknown'],
      ['void', 200, 'voided'],
    ]);
    expect(JSON.parse(said[1]!.request!)).toMatchObject({ amount_kopecks: 15_000, fingerprint: 'f' });
    expect(said[1]!.response).toBe('{"order_id":"o1","state":"accepted"}');
    expect(said[2]!.request).toBeNull();
    expect(calls.lost()).toBe(0);
  });

  test('a failed call is stored with its error', async () => {
    const calls = createCallLog({ db: pool, clock, log });
    const nobody = createHttpGateway({ url: 'http://127.0.0.1:1', token, clock, onCall: calls.record });
    const order = orderOf();
    expect(await nobody.pay(order)).toMatchObject({ outcome: 'unknown' });
    await calls.stop();
    await nobody.close();
    const [said] = await listCalls(pool, order.paymentId);
    expect(said).toMatchObject({ call: 'pay', status: null, outcome: 'unknown', error: 'ECONNREFUSED' });
  });

  test('the token is never stored, even if the bank side repeats it, and long bodies are cut', async () => {
    const { calls, gateway } = start();
    const order = orderOf();
    const echo = `${'ж'.repeat(2_040)} Bearer ${token}\0 ${'ы'.repeat(5_000)}`;
    bank.answerWith(echo, 500);
    await gateway.pay(order);
    await calls.stop();
    expect(bank.requests[0]!.headers.authorization).toContain(token);
    const [said] = await listCalls(pool, order.paymentId);
    expect(Buffer.byteLength(said!.response!)).toBeLessThanOrEqual(4_096 + 3);
    expect(said!.response).not.toContain('\uFFFD');
    const { rows } = await pool.query(
      'SELECT count(*)::int AS count FROM gateway_calls c WHERE strpos(c::text, $1) > 0 OR strpos(c::text, $2) > 0',
      [token.slice(0, 8), 'Authorization'],
    );
    expect(rows[0].count).toBe(0);
  });

  test('the reference of an order is not stored: it is long, and nobody can read it there', async () => {
    const { calls, gateway } = start();
    const order = orderOf();
    const echo = `{"order_id":"o1","state":"accepted", "reference" : "${order.reference}","reason":null}`;
    bank.answerWith(echo);
    await gateway.pay(order);
    bank.answerWith('{"order_id":"o1","state":"accepted","reference":"their own"}');
    await gateway.poll(order);
    await calls.stop();
    const [paid, polled] = await listCalls(pool, order.paymentId);
    expect(JSON.parse(paid!.request!)).toMatchObject({ amount_kopecks: 15_000, reference: '[sealed]' });
    const said = { order_id: 'o1', reference: '[sealed]', reason: null };
    expect(JSON.parse(paid!.response!)).toMatchObject(said);
    expect(JSON.parse(polled!.response!)).toMatchObject({ reference: 'their own' });
  });

  test('without the database only the log is lost', async () => {
    const { calls, gateway } = start({ query: () => Promise.reject(new Error('no database')) });
    bank.answerWith('{"order_id":"o1","state":"succeeded"}');
    for (let nth = 0; nth < 5; nth++)
      expect(await gateway.pay(orderOf())).toMatchObject({ outcome: 'succeeded' });
    await calls.stop();
    expect(calls.lost()).toBe(5);
    expect(warnings.at(-1)).toContain('the database did not store them');
  });

  test('a database that hangs delays no call; what exceeds the queue is dropped and counted', async () => {
    const [asked, hung] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: Queryable = {
      query: statement => {
        asked.resolve();
        return hung.promise.then(() => pool.query(statement));
      },
    };
    const { calls } = start(slow, 100);
    const paymentId = newPaymentId();
    const call = {
      ...{ call: 'poll' as const, paymentId, qrUrl: undefined, startedAtMs: Date.now(), durationMs: 1 },
      ...{ status: 200, outcome: 'accepted', request: null, response: '{}', error: null },
    };
    calls.record(call);
    // The first is on its way to the database; after it, this many may wait.
    await asked.promise;
    for (let nth = 0; nth < 1_000; nth++) calls.record(call);
    await nextLoopTurn();
    expect(calls.lost()).toBe(900);
    hung.resolve();
    await calls.stop();
    expect(await listCalls(pool, paymentId)).toHaveLength(101);
  });

  test('are deleted after ninety days', async () => {
    const clock = manualClock();
    const paymentId = newPaymentId();
    const { rows } = await pool.query(
      `INSERT INTO gateway_calls (payment_id, at, call, duration_ms, outcome)
       SELECT gen_random_uuid(), $1::timestamptz - make_interval(days => d), 'poll', 1, 'accepted'
         FROM unnest(ARRAY[89, 91, 120]) AS d RETURNING payment_id`,
      [new Date(clock.nowMs())],
    );
    expect(rows).toHaveLength(3);
    expect(await pruneCalls(pool, clock)).toBe(2);
    expect(await pruneCalls(pool, clock)).toBe(0);
    expect(await listCalls(pool, paymentId)).toEqual([]);
  });
});
