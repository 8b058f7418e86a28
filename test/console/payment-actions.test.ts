import { test as base, describe, expect } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { paymentRow } from '../../src/console/payments/rows.ts';
import { writePayments } from '../../src/web/index.ts';
import { answers } from '../helpers/console.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { openInReview } from '../helpers/review.ts';
import { resolution, startPaymentsConsole } from './payments-world.ts';

const { pool, sql, audit, partnerId, viewer, support, finance, open } = await startPaymentsConsole();
const large = 5_000_000n;
const ids = [await open(10_000n), await open(20_050n), await open(30_000n), await open(40_000n)];
await support.post(`/payments/${ids[0]}/resolve`, resolution);
await support.post(`/payments/${ids[1]}/resolve`, { ...resolution, outcome: 'failed' });
await sql`UPDATE payments SET recipient = '=HYPERLINK("http://evil")', external_id = '+1,2' WHERE id = ${uuidFromId(ids[2]!)}`;
const test = base.extend('paymentId', () => open(large));

describe('GET /payments/totals', () => {
  test('sums what the filters match, by state', async () => {
    const { json } = await viewer.get('/payments/totals');
    const total = (state: string, count: number, rub: string, usdt: string) => ({
      mode: 'live',
      state,
      count,
      rub,
      usdt,
    });
    expect(json).toEqual({
      totals: [
        total('succeeded', 1, '100.00', '11.000000'),
        total('manual_review', 2, '700.00', '22.000000'),
        total('failed', 1, '200.50', '11.000000'),
      ],
      is_complete: true,
    });
    expect((await viewer.get('/payments/totals?status=failed')).json.totals).toHaveLength(1);
    expect((await viewer.get(`/payments/totals?partner_id=${partnerId}&mode=test`)).json.totals).toEqual([]);
    expect((await viewer.get(`/payments/totals?q=${ids[3]}`)).json.totals).toMatchObject([{ rub: '400.00' }]);
  });
});

describe('GET /payments/export', () => {
  const linesOf = (text: string) => text.trimEnd().split('\n');

  test('has the payments of the filter, newest first, without spreadsheet formulas', async () => {
    const { headers, text } = await viewer.get('/payments/export');
    expect(headers.get('content-disposition')).toBe('attachment; filename="payments.csv"');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head, ...lines] = linesOf(text);
    expect(head).toMatch(/^payment_id,created_at,settled_at,partner_id,partner,mode,status,/);
    expect(lines.map(line => line.split(',')[0])).toEqual(ids.toReversed());
    expect(lines[1]).toContain(`"'=HYPERLINK(""http://evil"")"`);
    expect(lines[1]).toContain(`"'+1,2"`);
    expect(linesOf((await viewer.get('/payments/export?status=failed')).text)).toHaveLength(2);
    expect(linesOf((await viewer.get('/payments/export?external_id=none')).text)).toHaveLength(1);
  });

  test('says so when there are more payments than it has', async () => {
    const written = async (max: number) => {
      let text = '';
      for await (const piece of writePayments(pool, [{}], paymentRow, { isForOperators: true, max }))
        text += piece;
      return linesOf(text);
    };
    const cut = await written(3);
    expect(cut).toHaveLength(5);
    expect(cut[4]).toBe('Only the newest 3 payments are in this file: choose a shorter period.');
    expect(await written(4)).toHaveLength(5);
    expect((await written(4))[4]).toContain(ids[0]);
  });
});

test('a request to resolve names the partner and the balance that it changes', async ({ paymentId }) => {
  const asked = await support.post(`/payments/${paymentId}/resolve`, resolution);
  expect(asked.json).toMatchObject({ outcome: 'waiting' });
  const { balance, request } = (await viewer.get(`/payments/${paymentId}`)).json;
  expect(balance).toEqual({
    partner_id: partnerId,
    partner: 'Test shop',
    mode: 'live',
    // 10 000 less one that was debited and three on hold.
    available_usdt: '9956.000000',
    held_usdt: '33.000000',
  });
  expect(request).toMatchObject({ amount_rub: '50000.00', amount_usdt: '11.000000', balance });
  const [waiting] = (await viewer.get('/requests?state=waiting')).json.data;
  expect(waiting).toEqual(request);
  await support.post(`/requests/${waiting.request_id}/withdraw`);
  expect((await viewer.get('/requests?state=withdrawn')).json.data[0].balance).toBeNull();
});

describe('polling now', () => {
  test('a worker polls the payment at once; an ended payment is refused', async () => {
    const paymentId = await open();
    expect(await recoverDuePayments(audit.deps)).toBe(0);
    expect((await support.post(`/payments/${paymentId}/ask`)).json).toEqual({ outcome: 'done' });
    await recoverDuePayments(audit.deps);
    // The bank side does not have the order, so it is voided and the hold is released.
    expect((await viewer.get(`/payments/${paymentId}`)).json.payment).toMatchObject({
      status: 'failed',
      error_code: 'not_executed',
    });
    await answers('409 already_ended', support.post(`/payments/${paymentId}/ask`));
  });

  test('refused while a process has the lease, and for other roles', async () => {
    const paymentId = await openInReview(pool, partnerId, { leaseHolder: 77 });
    await answers('409 under_way', support.post(`/payments/${paymentId}/ask`));
    for (const nobody of [viewer, finance]) await answers(403, nobody.post(`/payments/${paymentId}/ask`));
  });
});

describe('deciding a payment', () => {
  test('refused from an outdated page, after the end, without the permission or without a reason', async () => {
    const paymentId = await open();
    const post = (body: object, who = support) => who.post(`/payments/${paymentId}/resolve`, body);
    await answers('409 stale', post({ ...resolution, expected_status_detail: null }));
    await answers(403, post(resolution, viewer));
    await answers(422, post({ ...resolution, reason: '  ' }));
    await answers(422, post({ ...resolution, outcome: 'maybe' }));
    expect((await post(resolution)).json).toEqual({ outcome: 'done' });
    await answers('409 already_ended', post(resolution));
  });

  test('above the threshold a second operator approves it in the list of requests', async ({ paymentId }) => {
    expect((await viewer.get(`/payments/${paymentId}`)).json).toMatchObject({
      needs_second_operator: true,
      request: null,
    });
    const asked = await support.post(`/payments/${paymentId}/resolve`, resolution);
    expect(asked.json).toMatchObject({
      outcome: 'waiting',
      request: {
        kind: 'resolve',
        subject: paymentId,
        amount_rub: '50000.00',
        asked_by: support.name,
        is_own: true,
        may_decide: false,
      },
    });
    const { request_id: id } = asked.json.request;
    const listed = async (who: typeof viewer) =>
      (await who.get('/requests?state=waiting')).json.data.find(
        (row: { request_id: string }) => row.request_id === id,
      );
    expect(await listed(finance)).toMatchObject({ may_decide: true, is_own: false });
    expect(await listed(viewer)).toMatchObject({ may_decide: false, is_own: false });
    expect((await viewer.get(`/payments/${paymentId}`)).json.request).toMatchObject({ request_id: id });
    const inReview = (await viewer.get('/review?limit=100')).json.data.find(
      (row: { payment_id: string }) => row.payment_id === paymentId,
    );
    expect(inReview).toMatchObject({ request: { request_id: id }, overdue: false, tries: 0 });

    await answers('403 own_request', support.post(`/requests/${id}/approve`));
    expect((await viewer.post(`/requests/${id}/approve`)).json.error.code).toBe('forbidden');
    expect((await finance.post(`/requests/${id}/withdraw`)).json.error.code).toBe('not_own_request');
    expect((await finance.post(`/requests/${id}/approve`)).json).toEqual({ outcome: 'done' });
    await answers('409 already_decided', finance.post(`/requests/${id}/approve`));
    expect((await viewer.get(`/payments/${paymentId}`)).json.payment.status).toBe('succeeded');
    const timeline = (await viewer.get(`/payments/${paymentId}`)).json.timeline;
    expect(timeline.map((item: { what: string }) => item.what)).toEqual(
      expect.arrayContaining(['request.ask', 'request.approve', 'payment.resolve']),
    );
  });

  test('a request for the opposite of what waits gets an answer that names it', async ({ paymentId }) => {
    const path = `/payments/${paymentId}/resolve`;
    const { request } = (await support.post(path, resolution)).json;
    const opposite = await finance.post(path, { ...resolution, outcome: 'failed' });
    expect([opposite.status, opposite.json.error.code]).toEqual([409, 'already_waiting']);
    expect(opposite.json.error.message).toBe(
      `Your request was not saved. Request ${request.request_id} by ${support.name} is already waiting for approval. New status: succeeded.`,
    );
    const waiting = (await viewer.get(`/payments/${paymentId}`)).json.request;
    expect(waiting).toMatchObject({ request_id: request.request_id, change: { outcome: 'succeeded' } });
  });

  test('a request whose payment has ended becomes void', async ({ paymentId }) => {
    const { json } = await support.post(`/payments/${paymentId}/resolve`, resolution);
    await pool.query('UPDATE service SET resolve_alone_kopecks = 90000000');
    expect((await finance.post(`/payments/${paymentId}/resolve`, resolution)).json).toEqual({
      outcome: 'done',
    });
    await pool.query('UPDATE service SET resolve_alone_kopecks = 1000000');
    await answers(409, finance.post(`/requests/${json.request.request_id}/approve`));
    const { data } = (await viewer.get('/requests?state=void')).json;
    expect(data[0]).toMatchObject({
      request_id: json.request.request_id,
      state: 'void',
      decided_by: finance.name,
    });
    await answers(404, finance.post('/requests/apr_x/approve'));
  });
});
