import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { createCallLog, createHttpGateway } from '../../src/gateway/index.ts';
import { answers } from '../helpers/console.ts';
import { createFundedPartner } from '../helpers/database.ts';
import { openInReview } from '../helpers/review.ts';
import { resolution, startPaymentsConsole } from './payments-world.ts';

const { pool, sql, bank, partnerId, viewer, support, open } = await startPaymentsConsole();

describe('GET /payments', () => {
  test('a search by name covers all partners whose names begin alike', async () => {
    const chain: Id<'prt'>[] = [];
    for (let shop = 0; shop < 7; shop++) chain.push(await createFundedPartner(pool, 10_000_000_000n));
    await sql`UPDATE partners SET name = 'Chain of shops' WHERE id = ANY (${chain.map(uuidFromId)})`;
    const opened: string[] = [];
    for (const shop of chain) opened.push(await openInReview(pool, shop, {}));
    const { json } = await viewer.get('/payments?q=chain of');
    expect(json.data.map((row: { payment_id: string }) => row.payment_id)).toEqual(opened.toReversed());
  });

  test('a payment id together with a filter that does not match finds nothing', async () => {
    const paymentId = await open(66_600n);
    expect((await viewer.get(`/payments?q=${paymentId} nonsense`)).json.data).toEqual([]);
    expect((await viewer.get(`/payments?q=${paymentId}`)).json.data).toHaveLength(1);
  });

  test('finds payments by each of their fields, and shows their partner', async () => {
    const paymentId = await open(77_700n);
    for (const asked of [
      `q=${paymentId}`,
      `payment_id=${paymentId}`,
      `external_id=order of ${paymentId}`,
      'amount_rub=777',
      'amount_rub=777.00&mode=live&status=processing&status_detail=manual_review',
      `partner_id=${partnerId}`,
      'recipient=пятё',
      `qr=https://web.qr.nspk.ru/AD${paymentId.slice(4).toUpperCase()}`,
      'q=777,00 manual_review',
      'created_after=2020-01-01T00:00:00Z&created_before=2100-01-01T00:00:00Z',
    ]) {
      const { status, json } = await viewer.get(`/payments?${asked}`);
      expect(status, asked).toBe(200);
      expect(json.data[0], asked).toMatchObject({
        payment_id: paymentId,
        partner_id: partnerId,
        partner: 'Test shop',
        amount_rub: '777.00',
        status: 'processing',
        status_detail: 'manual_review',
      });
    }
  });

  test('pages with its cursor', async () => {
    for (let nth = 0; nth < 3; nth++) await open();
    const first = await viewer.get('/payments?limit=2');
    expect(first.json.data).toHaveLength(2);
    const second = await viewer.get(`/payments?limit=2&after=${first.json.next_cursor}`);
    const ids = [...first.json.data, ...second.json.data].map(row => row.payment_id);
    expect(new Set(ids).size).toBe(4);
    expect(ids).toEqual([...ids].sort().reverse());
  });
});

describe('GET /payments/:id', () => {
  test('has the whole timeline in order, without a secret', async () => {
    const token = 'a-token-that-nobody-may-see';
    const calls = createCallLog({ db: pool, clock: systemClock, log: { warn: () => {} } });
    const gateway = createHttpGateway({ url: bank.address, token, clock: systemClock, onCall: calls.record });
    const paymentId = await open();
    await gateway.poll({ paymentId, amountKopecks: 100_000n });
    await calls.stop();
    await gateway.close();
    expect((await support.post(`/payments/${paymentId}/ask`)).json).toEqual({ outcome: 'done' });
    const asked = await support.post(`/payments/${paymentId}/resolve`, resolution);
    expect(asked.json).toEqual({ outcome: 'done' });

    const { status, json, text } = await viewer.get(`/payments/${paymentId}`);
    expect(status).toBe(200);
    expect(json.payment).toMatchObject({
      payment_id: paymentId,
      status: 'succeeded',
      idempotency_key: `key of ${paymentId}`,
      metadata: '{"note":"as it was sent"}',
      is_under_way: false,
      next_poll_at: null,
    });
    const items = json.timeline.map((item: { kind: string; what: string }) => `${item.kind} ${item.what}`);
    expect(items.slice(0, 2)).toEqual(['phase created', 'entry hold']);
    expect(items).toEqual(
      expect.arrayContaining([
        'gateway poll',
        'operator payment.ask',
        'entry settle',
        'phase succeeded',
        'event payment.succeeded',
        'operator payment.resolve',
      ]),
    );
    const times = json.timeline.map((item: { at: string }) => item.at);
    expect(times).toEqual([...times].sort());
    const poll = json.timeline.find((item: { what: string }) => item.what === 'poll');
    expect(poll).toMatchObject({ gateway_call: { response: expect.stringContaining('ORDER_UNKNOWN') } });
    const resolved = json.timeline.find((item: { what: string }) => item.what === 'payment.resolve');
    expect(resolved).toMatchObject({
      actor: `operator:${support.name}`,
      facts: { status: 'succeeded', reason: expect.stringContaining('bank') },
    });
    expect(text).not.toContain(token);
    expect(text).not.toMatch(/authorization/i);
  });

  test('has status checks in a row with the same answer as one item', async () => {
    const paymentId = await open();
    const check = (from: number, to: number, status: number) =>
      pool.query(
        `INSERT INTO gateway_calls (payment_id, at, call, duration_ms, status, outcome, request, response)
         SELECT $1, $5::timestamptz + nth * interval '1 s', 'poll', nth, $4, 'order_unknown', 'GET', 'answer ' || nth
           FROM generate_series($2::int, $3::int) AS nth`,
        [uuidFromId(paymentId), from, to, status, firstAt],
      );
    const firstAt = new Date(Date.now() + 1_000);
    const timeOf = (nth: number) => new Date(firstAt.getTime() + nth * 1_000).toISOString();
    const polls = async () =>
      (await viewer.get(`/payments/${paymentId}`)).json.timeline.filter(
        (item: { what: string }) => item.what === 'poll',
      );
    await check(1, 3, 200);
    await check(4, 4, 502);
    await check(5, 6, 200);
    expect(await polls()).toMatchObject([
      { times: 3, at: timeOf(1), last_at: timeOf(3), gateway_call: { response: 'answer 3' }, duration_ms: 3 },
      { times: 1, at: timeOf(4), last_at: null },
      { times: 2, at: timeOf(5), last_at: timeOf(6) },
    ]);
    // More than are listed one by one.
    await check(7, 400, 200);
    expect((await polls()).at(-1)).toMatchObject({ times: 396, at: timeOf(5), last_at: timeOf(400) });
    const json = (await viewer.get(`/payments/${paymentId}`)).text;
    expect(json).not.toContain('omittedBefore');
  });

  test('has every delivery attempt of the event', async () => {
    const paymentId = await open();
    await pool.query(
      `INSERT INTO endpoints (endpoint_id, partner_id, number, url, secret, events, created_at, changed_at)
       VALUES ($1, $1, 1, 'https://example.com', $2, '{payment.succeeded,payment.failed}', now(), now())`,
      [uuidFromId(partnerId), Buffer.alloc(1)],
    );
    await support.post(`/payments/${paymentId}/resolve`, { ...resolution, outcome: 'failed' });
    await sql`INSERT INTO webhook_attempts (endpoint_id, partner_id, event_id, attempt, at, status, error, duration_ms)
       SELECT e.partner_id, e.partner_id, e.id, a.attempt, e.at + a.attempt * interval '1 s', a.status, a.error, 12
         FROM events e, (VALUES (1, NULL, 'timeout'), (2, 200, NULL)) AS a (attempt, status, error)
        WHERE e.payment_id = ${uuidFromId(paymentId)}`;
    const { timeline } = (await viewer.get(`/payments/${paymentId}`)).json;
    await pool.query('DELETE FROM endpoints');
    expect(timeline.filter((item: { kind: string }) => item.kind === 'delivery')).toMatchObject([
      { kind: 'delivery', what: 'next_attempt', outcome: 'open' },
      {
        kind: 'delivery',
        what: 'not_delivered',
        facts: { attempt: 1, http_status: null, error: 'timeout' },
        outcome: 'bad',
        duration_ms: 12,
      },
      { kind: 'delivery', what: 'delivered', facts: { attempt: 2, http_status: 200 }, outcome: 'good' },
    ]);
    expect(timeline).toContainEqual(
      expect.objectContaining({
        kind: 'event',
        what: 'payment.failed',
        facts: { event: expect.stringMatching(/^evt_/) },
      }),
    );
  });

  test('unknown payments and rejected attempts are not found', async () => {
    const paymentId = await open();
    await sql`UPDATE payments SET status = 'rejected', rejected = true, error_code = 'qr_changed', settled_at = now(), status_detail = NULL
        WHERE id = ${uuidFromId(paymentId)}`;
    for (const id of [paymentId, 'pay_x', 'pay_01h00000000000000000000000'])
      await answers('404 not_found', viewer.get(`/payments/${id}`));
    expect((await viewer.get(`/payments?q=${paymentId}`)).json.data).toEqual([]);
    await pool.query('DELETE FROM open_payments WHERE payment_id = $1', [uuidFromId(paymentId)]);
  });
});

test('the review lists the oldest first, page by page', async () => {
  const { json } = await viewer.get('/review?limit=2');
  expect(json.data).toHaveLength(2);
  const rest = await viewer.get(`/review?limit=100&after=${json.next_cursor}`);
  const ids = [...json.data, ...rest.json.data].map((row: { payment_id: string }) => row.payment_id);
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
  expect(rest.json.next_cursor).toBeNull();
});
