import { describe, expect, test } from 'vitest';
import { makeQr, nextPaymentId, openSimulator } from '../helpers/simulator.ts';

const simulator = await openSimulator();
const { address, call } = simulator;
const patience = { timeout: 100_000 };
const poll = (paymentId: string) => call('GET', `/orders/${paymentId}`);
const codeOf = async (answer: Promise<{ status: number; body: { code: string } }>) => {
  const { status, body } = await answer;
  return `${status} ${body.code}`;
};

async function qrWith(...faults: object[]) {
  const [qr, paymentId] = [await makeQr(simulator), nextPaymentId()];
  for (const fault of faults) expect((await qr.fault(fault)).status).toBe(200);
  return { ...qr, paymentId, pay: () => qr.pay(paymentId), pollCode: () => codeOf(poll(paymentId)) };
}

describe('refused before anything is stored', () => {
  test.each([
    ['pay', 'busy', '429 BUSY'],
    ['pay', 'unavailable', '503 UNAVAILABLE'],
    ['pay', 'changed_qr', '409 QR_CHANGED'],
    ['resolve', 'unresolvable', '422 QR_UNRESOLVABLE'],
    ['resolve', 'unavailable', '503 UNAVAILABLE'],
  ])('on %s: %s', async (on, kind, code) => {
    const qr = await qrWith({ on, kind, times: 1 });
    const attempt = on === 'pay' ? qr.pay : qr.resolve;
    expect(await codeOf(attempt())).toBe(code);
    expect(await qr.pollCode()).toBe('404 ORDER_UNKNOWN');
    expect((await attempt()).status).toBe(200);
  });

  test('never for an order that exists', async () => {
    const qr = await qrWith();
    await qr.pay();
    for (const kind of ['busy', 'unavailable', 'changed_qr']) await qr.fault({ on: 'pay', kind });
    expect((await qr.pay()).body.state).toBe('succeeded');
  });

  test('http_error comes without the gateway’s own body', async () => {
    const qr = await qrWith({ on: 'pay', kind: 'http_error', status: 502, times: 1 });
    const body = JSON.stringify(qr.request);
    const response = await fetch(`${address}/orders/${qr.paymentId}`, { method: 'PUT', body });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      502,
      'text/html; charset=utf-8',
    ]);
    expect(await response.text()).toContain('<h1>502</h1>');
    expect(await qr.pollCode()).toBe('404 ORDER_UNKNOWN');
    await qr.fault({ on: 'pay', kind: 'http_error', status: 500, body: { code: 'ODD' } });
    expect(await qr.pay()).toEqual({ status: 500, body: { code: 'ODD' } });
  });

  test('drop_before breaks the connection', async () => {
    const qr = await qrWith({ on: 'pay', kind: 'drop_before', times: 1 });
    await expect(qr.pay()).rejects.toThrow('fetch failed');
    expect(await qr.pollCode()).toBe('404 ORDER_UNKNOWN');
  });
});

describe('carried out, but', () => {
  test.each([
    ['answer_lost', 'fetch failed'],
    ['broken_json', SyntaxError],
  ])('%s gives no answer that can be read', async (kind, error) => {
    const qr = await qrWith({ on: 'pay', kind, times: 1 });
    await expect(qr.pay()).rejects.toThrow(error);
    expect((await poll(qr.paymentId)).body.state).toBe('succeeded');
  });

  test('stall sends headers and then nothing', async () => {
    const qr = await qrWith({ on: 'pay', kind: 'stall', times: 1 });
    const signal = AbortSignal.timeout(300);
    const body = JSON.stringify(qr.request);
    const response = await fetch(`${address}/orders/${qr.paymentId}`, { method: 'PUT', body, signal });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('timeout');
    expect((await poll(qr.paymentId)).body.state).toBe('succeeded');
  });

  test('decline gives its reason', async () => {
    const qr = await qrWith({ on: 'pay', kind: 'decline', reason: 'SUSPECTED_FRAUD', times: 1 });
    expect((await qr.pay()).body).toMatchObject({ state: 'declined', reason: 'SUSPECTED_FRAUD' });
    expect((await qr.pay()).body).toMatchObject({ state: 'declined', reason: 'SUSPECTED_FRAUD' });
    expect((await makeQr(simulator)).state).toBe('open');
  });

  test.each([
    ['succeeded', {}, null],
    ['declined', { reason: 'LIMIT_EXCEEDED' }, 'LIMIT_EXCEEDED'],
  ])('finish_later ends %s', async (outcome, more, reason) => {
    const qr = await qrWith({ on: 'pay', kind: 'finish_later', ms: 500, outcome, ...more });
    expect((await qr.pay()).body).toMatchObject({ state: 'accepted', reason: null });
    expect((await call('POST', `/orders/${qr.paymentId}/void`)).body.state).toBe('accepted');
    await expect
      .poll(async () => (await poll(qr.paymentId)).body, patience)
      .toMatchObject({ state: outcome, reason });
    const { created_at, updated_at } = (await qr.pay()).body;
    expect(Date.parse(updated_at) - Date.parse(created_at)).toBeGreaterThanOrEqual(499);
  });

  test('wrong_amount adds a kopeck', async () => {
    const qr = await qrWith(
      { on: 'resolve', kind: 'wrong_amount', times: 1 },
      { on: 'pay', kind: 'wrong_amount' },
    );
    expect((await qr.resolve()).body.amount_kopecks).toBe(15_001);
    expect((await qr.resolve()).body.amount_kopecks).toBe(15_000);
    for (const _ of [1, 2]) expect((await qr.pay()).body.amount_kopecks).toBe(15_001);
    expect((await poll(qr.paymentId)).body.amount_kopecks).toBe(15_001);
  });
});

test('without_reference: an order that was placed meanwhile has none', async () => {
  const qr = await makeQr(simulator, { reusable: true });
  await qr.fault({ on: 'pay', kind: 'without_reference', times: 1 });
  const [without, withOne] = [nextPaymentId(), nextPaymentId()];
  for (const paymentId of [without, withOne]) await qr.pay(paymentId, { reference: 'sealed' });
  expect((await poll(without)).body).not.toHaveProperty('reference');
  expect((await poll(withOne)).body.reference).toBe('sealed');
});

test('a void wins against an order that is still delayed', async () => {
  const qr = await qrWith({ on: 'pay', kind: 'delay', ms: 600, times: 1 });
  const paying = qr.pay();
  await expect
    .poll(async () => (await call('GET', '/sim/faults')).body.faults)
    .not.toContainEqual(expect.objectContaining({ qrc_id: qr.qrc_id }));
  expect(await qr.pollCode()).toBe('404 ORDER_UNKNOWN');
  expect((await call('POST', `/orders/${qr.paymentId}/void`)).body).toEqual({ state: 'voided' });
  expect(await codeOf(paying)).toBe('409 VOIDED');
});

test('faults of different stages combine, those of one stage come one after the other', async () => {
  const qr = await qrWith(
    { on: 'pay', kind: 'busy', times: 2 },
    { on: 'pay', kind: 'unavailable', times: 1 },
    { on: 'pay', kind: 'delay', ms: 120 },
    { on: 'pay', kind: 'decline', reason: 'TECH_ERROR' },
    { on: 'pay', kind: 'answer_lost', times: 1 },
  );
  expect(await codeOf(qr.pay())).toBe('429 BUSY');
  expect(await codeOf(qr.pay())).toBe('429 BUSY');
  expect(await codeOf(qr.pay())).toBe('503 UNAVAILABLE');
  await expect(qr.pay()).rejects.toThrow('fetch failed');
  const startMs = performance.now();
  expect((await qr.pay()).body).toMatchObject({ state: 'declined', reason: 'TECH_ERROR' });
  expect(performance.now() - startMs).toBeGreaterThan(110);
});

test('poll and void can fail, too', async () => {
  const qr = await qrWith(
    { on: 'poll', kind: 'unavailable', times: 1 },
    { on: 'void', kind: 'answer_lost', times: 1 },
  );
  await qr.pay();
  expect(await qr.pollCode()).toBe('503 UNAVAILABLE');
  await expect(call('POST', `/orders/${qr.paymentId}/void`)).rejects.toThrow('fetch failed');
  expect((await poll(qr.paymentId)).body.state).toBe('succeeded');
});

test('are shown, replaced by id and cleared, one or all', async () => {
  await call('DELETE', '/sim/faults');
  const set = (id: string, ms: number) =>
    call('PUT', '/sim/faults', { id, on: 'pay', kind: 'delay', ms, times: 3 });
  const shown = { id: 'a', on: 'pay', kind: 'delay', ms: 5, qrc_id: null, times: 3 };
  expect((await set('a', 5)).body).toEqual(shown);
  await set('b', 5);
  await set('b', 6);
  const { faults, kinds } = (await call('GET', '/sim/faults')).body;
  expect(faults).toEqual([shown, { ...shown, id: 'b', ms: 6 }]);
  expect(kinds.finish_later).toMatchObject({ on: ['pay'], params: ['ms', 'outcome', 'reason'] });
  expect((await call('DELETE', '/sim/faults/a')).body.faults).toEqual([{ ...shown, id: 'b', ms: 6 }]);
  expect((await call('DELETE', '/sim/faults')).body.faults).toEqual([]);
});

test.each([
  [{ on: 'pay', kind: 'explode' }, 'kind'],
  [{ on: 'poll', kind: 'decline' }, 'on'],
  [{ on: 'pay', kind: 'delay' }, 'ms'],
  [{ on: 'pay', kind: 'delay', ms: -1 }, 'ms'],
  [{ on: 'pay', kind: 'delay', ms: '5' }, 'ms'],
  [{ on: 'pay', kind: 'busy', times: 0 }, 'times'],
  [{ on: 'pay', kind: 'busy', time: 1 }, 'time'],
  [{ on: 'pay', kind: 'busy', qrc_id: 7 }, 'qrc_id'],
  [{ on: 'pay', kind: 'finish_later', ms: 1, outcome: 'maybe' }, 'outcome'],
  [{ on: 'pay', kind: 'finish_later', ms: 1, outcome: 'succeeded', reason: 'NO' }, 'reason'],
  [{ on: 'pay', kind: 'http_error', status: 99 }, 'status'],
])('a bad fault %o is refused and named', async (fault, name) => {
  const message = expect.stringContaining(`"${name}"`);
  expect(await call('PUT', '/sim/faults', fault)).toEqual({
    status: 400,
    body: { code: 'BAD_REQUEST', message },
  });
});
