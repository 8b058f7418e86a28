import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newPaymentId } from '../helpers/database.ts';
import { expectLintedOpenApi } from '../helpers/lint-openapi.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';
import { gatewayOpener, requester, token } from './orders.ts';

const documentFile = new URL('../../docs/reference/gateway.openapi.json', import.meta.url);
// biome-ignore lint/suspicious/noExplicitAny: a document looked into at a few places
const document: any = JSON.parse(readFileSync(documentFile, 'utf8'));

/** A request and its answer, as they were on the wire. */
interface Exchange {
  method: string;
  /** With its query. */
  url: string;
  headers: Record<string, unknown>;
  requestBody: string;
  status: number;
  contentType: string;
  responseBody: string;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(document, 'gateway');

const pathPatterns = Object.keys(document.paths).map(path => ({
  path,
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '([^/]+)')}$`),
}));

const pointer = (...steps: string[]) =>
  `gateway#/${steps.map(step => step.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')).join('/')}`;

function problemsOf(schemaPointer: string, value: unknown, place: string): string[] {
  const validate = ajv.compile({ $ref: schemaPointer });
  if (validate(value)) return [];
  return (validate.errors ?? []).map(error => `${place}${error.instancePath} ${error.message}`);
}

function read(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** `PUT /orders/{payment_id}`, as the document names it; undefined: it has no such operation. */
function operationOf({ method, url }: Pick<Exchange, 'method' | 'url'>): string | undefined {
  const { pathname } = new URL(url, 'http://gateway');
  const known = pathPatterns.find(({ pattern }) => pattern.test(pathname));
  return known && document.paths[known.path][method.toLowerCase()] ? `${method} ${known.path}` : undefined;
}

/** Where the request differs from the document. */
function problemsOfRequest(exchange: Exchange): string[] {
  const operation = operationOf(exchange);
  if (!operation) return [`there is no operation ${exchange.method} ${exchange.url}`];
  const [method, path] = [exchange.method.toLowerCase(), operation.split(' ')[1]!];
  const described = document.paths[path][method];
  const problems: string[] = [];
  if (!/^Bearer \S+$/.test(String(exchange.headers.authorization))) problems.push('no bearer token');
  if (described.requestBody) {
    if (exchange.headers['content-type'] !== 'application/json')
      problems.push('the body is not sent as JSON');
    const schema = pointer('paths', path, method, 'requestBody', 'content', 'application/json', 'schema');
    problems.push(...problemsOf(schema, read(exchange.requestBody), 'body'));
  } else if (exchange.requestBody !== '') problems.push('a body that is not described');
  const { searchParams, pathname } = new URL(exchange.url, 'http://gateway');
  const inPath = pathPatterns
    .find(one => one.path === path)!
    .pattern.exec(pathname)!
    .slice(1);
  for (const value of inPath)
    problems.push(...problemsOf(pointer('components', 'parameters', 'PaymentId', 'schema'), value, 'path'));
  const parameters: { name: string; schema: { type?: string } }[] = described.parameters ?? [];
  for (const [name, written] of searchParams) {
    const index = parameters.findIndex(one => one.name === name);
    const value = parameters[index]?.schema.type === 'integer' ? Number(written) : written;
    if (index < 0) problems.push(`a parameter ${name} that is not described`);
    else
      problems.push(
        ...problemsOf(pointer('paths', path, method, 'parameters', `${index}`, 'schema'), value, name),
      );
  }
  return problems;
}

/** Where the answer differs from the document. */
function problemsOfAnswer(exchange: Exchange): string[] {
  const operation = operationOf(exchange);
  if (!operation) return [`there is no operation ${exchange.method} ${exchange.url}`];
  const [method, path] = [exchange.method.toLowerCase(), operation.split(' ')[1]!];
  const described = document.paths[path][method].responses[exchange.status];
  if (!described) return [`${operation} does not answer ${exchange.status}`];
  if (!/^application\/json(;|$)/.test(exchange.contentType)) return [`${exchange.contentType} is not JSON`];
  const base = described.$ref
    ? ['components', 'responses', String(described.$ref).split('/').at(-1)!]
    : ['paths', path, method, 'responses', `${exchange.status}`];
  const schema = pointer(...base, 'content', 'application/json', 'schema');
  return problemsOf(schema, read(exchange.responseBody), 'body');
}

/** Passes requests on to a gateway and keeps each with its answer. */
async function startRecorder(target: string): Promise<{ url: string; exchanges: Exchange[] }> {
  const exchanges: Exchange[] = [];
  const server = await startLocalServer();
  server.answer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const requestBody = await text(request);
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: headers.authorization ? { authorization: headers.authorization } : {},
      body: requestBody === '' ? null : requestBody,
    });
    const responseBody = await answer.text();
    const contentType = answer.headers.get('content-type') ?? '';
    exchanges.push({ method, url, headers, requestBody, status: answer.status, contentType, responseBody });
    response.writeHead(answer.status, { 'content-type': contentType }).end(responseBody);
  });
  return { url: server.url, exchanges };
}

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
