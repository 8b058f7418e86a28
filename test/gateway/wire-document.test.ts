import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newPaymentId } from '../helpers/database.ts';
import { expectLintedOpenApi } from '../helpers/lint-openapi.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';
import { gatewayOpener, requester, token } from './orders.ts';
import {
  document,
  type Exchange,
  operationOf,
  problemsOfAnswer,
  problemsOfRequest,
  startRecorder,
} from './wire-document.ts';

const openGateway = gatewayOpener();
const simulator = await openSimulator({ GATEWAY_TOKEN: token });
const { url, exchanges } = await startRecorder(simulator.address);
const gateway = openGateway(url);

const problemsIn = (list: Exchange[], problemsOf: (exchange: Exchange) => string[]) =>
  list.flatMap(exchange =>
    problemsOf(exchange).map(problem => `${exchange.method} ${exchange.url}: ${problem}`),
  );

async function orderFor(fields: object = {}) {
  const qr = await makeQr(simulator, fields);
  const order = {
    ...{ partnerId: requester.partnerId, paymentId: newPaymentId(), qrUrl: qr.link as string },
    ...{ qrcId: qr.qrc_id as string, amountKopecks: 15_000n, fingerprint: qr.fingerprint as string },
    reference: 'Zm9v-_'.repeat(170),
  };
  return { qr, order };
}

test('the document is OpenAPI 3.1 and passes the linter without a warning', () =>
  expectLintedOpenApi(document));

test('every request of the service and every answer of the simulator is as the document says', async () => {
  const { qr, order } = await orderFor();
  await gateway.resolve(order.qrUrl, requester);
  await gateway.poll(order);
  await gateway.pay(order);
  await gateway.pay(order);
  await gateway.poll(order);
  await gateway.void(order);
  await gateway.pay({ ...order, amountKopecks: 15_001n });

  const voided = (await orderFor()).order;
  await gateway.void(voided);
  await gateway.pay(voided);

  const later = await orderFor();
  await later.qr.fault({ on: 'pay', kind: 'finish_later', ms: 60_000, outcome: 'succeeded' });
  await gateway.pay(later.order);
  const declined = await orderFor();
  await declined.qr.fault({ on: 'pay', kind: 'decline', reason: 'LIMIT_EXCEEDED' });
  await gateway.pay(declined.order);

  const refusals = ['busy', 'unavailable', 'changed_qr'] as const;
  for (const kind of refusals) {
    const one = await orderFor();
    await one.qr.fault({ on: 'pay', kind });
    await gateway.pay(one.order);
  }

  await qr.fault({ on: 'resolve', kind: 'unresolvable', times: 1 });
  await gateway.resolve(order.qrUrl, requester);
  await qr.fault({ on: 'resolve', kind: 'unavailable', times: 1 });
  await gateway.resolve(order.qrUrl, requester);
  await gateway.resolve('https://qr.nspk.ru/AS1R004PRL5RNGBA9ARPLJLTDO94S3J9', requester);
  const expired = await orderFor({ expires_in_sec: 0 });
  await gateway.resolve(expired.order.qrUrl, requester);
  const open = await makeQr(simulator, { amount_kopecks: null, reusable: true });
  await gateway.resolve(open.link, requester);

  const { nextCursor } = await gateway.listOrders(new Date(systemClock.nowMs() - 60_000), undefined);
  expect(nextCursor).toBeNull();
  await gateway.listOrders(new Date(systemClock.nowMs() - 60_000), '1');

  await simulator.call('POST', `/sim/orders/${order.paymentId}/refunds`, { amount_kopecks: 100 });
  const { body: refund } = await simulator.call('POST', `/sim/orders/${order.paymentId}/refunds`, {});
  await simulator.call('POST', `/sim/refunds/${refund.refund_id}/revoke`);
  expect(await gateway.poll(order)).toMatchObject({
    outcome: 'succeeded',
    refunds: [
      { paymentId: order.paymentId, amountKopecks: 100n, isRevoked: false },
      { refundId: refund.refund_id, amountKopecks: 14_900n, isRevoked: true },
    ],
  });
  const refunds = await gateway.listRefunds(new Date(systemClock.nowMs() - 60_000), undefined);
  expect(refunds).toMatchObject({ refunds: [{ isRevoked: false }, { isRevoked: true }], nextCursor: null });

  expect(problemsIn(exchanges, problemsOfRequest)).toEqual([]);
  expect(problemsIn(exchanges, problemsOfAnswer)).toEqual([]);
  expect(new Set(exchanges.map(operationOf))).toEqual(new Set(operations().keys()));
});

test('what the service never sends gets the documented answer too', async () => {
  const before = exchanges.length;
  const call = (method: string, path: string, body?: string, bearer = token) =>
    fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${bearer}` }, body: body ?? null });
  const id = newPaymentId();
  for (const [method, path, body] of [
    ['POST', '/qr/resolve', '{"qr_url":"x"}'],
    ['PUT', `/orders/${id}`, '{}'],
    ['GET', `/orders/${id}`],
    ['POST', `/orders/${id}/void`],
    ['GET', '/orders'],
    ['GET', '/refunds'],
  ] as const)
    await call(method, path, body, 'of-somebody-else');
  await call('POST', '/qr/resolve', '{');
  await call('PUT', `/orders/${id}`, '{"amount_kopecks":"15000"}');
  await call('GET', '/orders?limit=0');
  await call('GET', '/refunds?limit=0');
  const made = exchanges.slice(before);
  expect(made.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401, 400, 400, 400, 400]);
  expect(problemsIn(made, problemsOfAnswer)).toEqual([]);
});

test('every answer that the document describes was seen', () => {
  const seen = new Set(exchanges.map(exchange => `${operationOf(exchange)} ${exchange.status}`));
  const described = [...operations()].flatMap(([operation, statuses]) =>
    statuses.map(status => `${operation} ${status}`),
  );
  expect(described.filter(one => !seen.has(one))).toEqual([]);
});

test('a difference is found', () => {
  const listed = exchanges.find(
    ({ url: path, status }) => path.startsWith('/orders?since') && status === 200,
  )!;
  const [order] = JSON.parse(listed.responseBody).orders;
  const answer = (fields: object) => ({
    ...listed,
    responseBody: JSON.stringify({ orders: [{ ...order, ...fields }], next_cursor: null }),
  });
  expect(problemsOfAnswer(answer({}))).toEqual([]);
  for (const wrong of [
    { amount_kopecks: '15000' },
    { amount_kopecks: 150.5 },
    { created_at: '2026-11-15 10:00:00' },
    { state: 'paid' },
    { order_id: 17 },
    { reference: null },
  ])
    expect(problemsOfAnswer(answer(wrong)), JSON.stringify(wrong)).not.toEqual([]);
  expect(problemsOfAnswer({ ...listed, status: 404 })).toEqual(['GET /orders does not answer 404']);
  expect(problemsOfAnswer({ ...listed, contentType: 'text/html' })).toEqual(['text/html is not JSON']);
  expect(problemsOfRequest({ ...listed, url: '/orders?page=2' })).not.toEqual([]);
  expect(problemsOfRequest({ ...listed, headers: {} })).toEqual(['no bearer token']);
});

function operations(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [path, item] of Object.entries<Record<string, { responses: object }>>(document.paths))
    for (const method of ['get', 'put', 'post'])
      if (item[method]) found.set(`${method.toUpperCase()} ${path}`, Object.keys(item[method].responses));
  return found;
}
