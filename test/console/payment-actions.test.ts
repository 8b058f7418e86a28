import { describe, expect, test } from 'vitest';
import { refusal } from '../helpers/console.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { openInReview } from '../helpers/review.ts';
import { resolution, startPaymentsConsole } from './payments-world.ts';

const { pool, audit, partnerId, viewer, support, finance, open } = await startPaymentsConsole();
const large = 5_000_000n;

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
    expect(await support.post(`/payments/${paymentId}/ask`)).toMatchObject(refusal(409, 'already_ended'));
  });

  test('refused while a process has the lease, and for other roles', async () => {
    const paymentId = await openInReview(pool, partnerId, { leaseHolder: 77 });
    expect(await support.post(`/payments/${paymentId}/ask`)).toMatchObject(refusal(409, 'under_way'));
    for (const nobody of [viewer, finance])
      expect((await nobody.post(`/payments/${paymentId}/ask`)).status).toBe(403);
  });
});

describe('deciding a payment', () => {
  test('refused from an outdated page, after the end, without the permission or without a reason', async () => {
    const paymentId = await open();
    const post = (body: object, who = support) => who.post(`/payments/${paymentId}/resolve`, body);
    expect(await post({ ...resolution, expected_status_detail: null })).toMatchObject(refusal(409, 'stale'));
    expect((await post(resolution, viewer)).status).toBe(403);
    expect((await post({ ...resolution, reason: '  ' })).status).toBe(422);
    expect((await post({ ...resolution, outcome: 'maybe' })).status).toBe(422);
    expect((await post(resolution)).json).toEqual({ outcome: 'done' });
    expect(await post(resolution)).toMatchObject(refusal(409, 'already_ended'));
  });

  test('above the threshold a second operator approves it in the list of requests', async () => {
    const paymentId = await open(large);
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

    expect(await support.post(`/requests/${id}/approve`)).toMatchObject(refusal(403, 'own_request'));
    expect((await viewer.post(`/requests/${id}/approve`)).json.error.code).toBe('forbidden');
    expect((await finance.post(`/requests/${id}/withdraw`)).json.error.code).toBe('not_own_request');
    expect((await finance.post(`/requests/${id}/approve`)).json).toEqual({ outcome: 'done' });
    expect(await finance.post(`/requests/${id}/approve`)).toMatchObject(refusal(409, 'already_decided'));
    expect((await viewer.get(`/payments/${paymentId}`)).json.payment.status).toBe('succeeded');
    const timeline = (await viewer.get(`/payments/${paymentId}`)).json.timeline;
    expect(timeline.map((item: { what: string }) => item.what)).toEqual(
      expect.arrayContaining(['request.ask', 'request.approve', 'payment.resolve']),
    );
  });

  test('a request for the opposite of what waits gets an answer that names it', async () => {
    const paymentId = await open(large);
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

  test('a request whose payment has ended becomes void', async () => {
    const paymentId = await open(large);
    const { json } = await support.post(`/payments/${paymentId}/resolve`, resolution);
    await pool.query('UPDATE service SET resolve_alone_kopecks = 90000000');
    expect((await finance.post(`/payments/${paymentId}/resolve`, resolution)).json).toEqual({
      outcome: 'done',
    });
    await pool.query('UPDATE service SET resolve_alone_kopecks = 1000000');
    expect((await finance.post(`/requests/${json.request.request_id}/approve`)).status).toBe(409);
    const { data } = (await viewer.get('/requests?state=void')).json;
    expect(data[0]).toMatchObject({
      request_id: json.request.request_id,
      state: 'void',
      decided_by: finance.name,
    });
    expect((await finance.post('/requests/apr_x/approve')).status).toBe(404);
  });
});
