import { randomUUID } from 'node:crypto';
import { request as send } from 'node:http';
import { expect, test } from 'vitest';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { afterFile } from '../helpers/after-file.ts';
import { startService } from '../helpers/cli.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { listen } from '../helpers/local-server.ts';
import { startOtlpReceiver } from '../helpers/otlp-receiver.ts';
import { createPartnerWithKeys, keyring, secretKey } from '../helpers/partners.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';

const { pool, url } = await createDatabase();
const bank = await startSimulator();
const collector = await startOtlpReceiver();
const endpoint = await startReceiver();

/** What the payment gateway gets as `traceparent`, by path. */
const passedOn: { path: string; traceparent: string | undefined }[] = [];
const gateway = await listen((request, response) => {
  passedOn.push({ path: request.url!, traceparent: request.headers.traceparent as string | undefined });
  const forwarded = send(`${bank.address}${request.url}`, {
    method: request.method,
    headers: request.headers,
  });
  forwarded.on('response', answer => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  forwarded.on('error', () => response.destroy());
  request.pipe(forwarded);
});

const service = await startService({
  DATABASE_URL: url,
  SECRET_KEY: secretKey,
  GATEWAY_URL: gateway,
  RATE_SOURCES: 'fixed:92.50',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
  LOG_LEVEL: 'warn',
  // Polls and deliveries are made by any of them.
  PROCESSES: '2',
});
afterFile(async () => void (await service.stop()));
const customer = await createPartnerWithKeys(pool);
await setWebhook(auditContextOf(pool), createVault(keyring), customer.partnerId, endpoint.url);

const newTraceId = () => randomUUID().replaceAll('-', '');
const partnerSpan = 'b7ad6b7169203331';
const begin = (traceId: string) => `00-${traceId}-${partnerSpan}-01`;

/** Pays as a partner does: after a 503 it repeats the request with the same key, here in a new trace. */
async function pay(
  key: string,
  link: string,
  traceparentOf: (traceId: string) => string | undefined = begin,
) {
  const idempotencyKey = randomUUID();
  while (true) {
    const traceId = newTraceId();
    const traceparent = traceparentOf(traceId);
    const response = await fetch(`${service.address}/v1/payments`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
        ...{ 'idempotency-key': idempotencyKey, ...(traceparent && { traceparent }) },
      },
      body: JSON.stringify({ qr_url: link }),
    });
    const payment = (await response.json()) as { id: string; status: string };
    if (response.status === 503) continue;
    expect(payment, service.output()).toHaveProperty('status');
    return { ...payment, traceId };
  }
}

const spansOf = (traceId: string) => collector.spans.filter(span => span.traceId === traceId);
const attribute = (span: (typeof collector.spans)[number], key: string) =>
  span.attributes.find(each => each.key === key)?.value.stringValue;
const deliveryOf = (id: string) =>
  endpoint.received.find(({ headers }) => headers['x-service-payment-id'] === id);

test('a live payment is one trace that the partner began: phases, gateway calls and webhook, linked to batches', async () => {
  const qr = await makeQr(bank);
  const { id, status, traceId } = await pay(customer.liveKey, qr.link);
  expect(status).toBe('succeeded');
  const expected = [
    ...['POST /v1/payments', 'payment resolve', 'payment open', 'payment gateway', 'payment finish'],
    ...['gateway resolve', 'gateway pay', 'webhook delivery'],
  ];
  await expect
    .poll(() =>
      spansOf(traceId)
        .map(({ name }) => name)
        .sort(),
    )
    .toEqual(expected.sort());
  const byName = new Map(spansOf(traceId).map(span => [span.name, span]));
  const parentOf = (name: string) =>
    spansOf(traceId).find(({ spanId }) => spanId === byName.get(name)!.parentSpanId)?.name;
  const root = byName.get('POST /v1/payments')!;
  expect(root.parentSpanId).toBe(partnerSpan);
  expect(attribute(root, 'kopeck.payment_id')).toBe(id);
  for (const phase of ['resolve', 'open', 'gateway', 'finish'])
    expect(parentOf(`payment ${phase}`)).toBe('POST /v1/payments');
  expect(parentOf('gateway resolve')).toBe('payment resolve');
  expect(parentOf('gateway pay')).toBe('payment gateway');
  expect(parentOf('webhook delivery')).toBe('POST /v1/payments');

  const passed = (name: string) => `00-${traceId}-${byName.get(name)!.spanId}-01`;
  expect(passedOn).toContainEqual({ path: '/qr/resolve', traceparent: passed('gateway resolve') });
  expect(passedOn).toContainEqual({ path: `/orders/${id}`, traceparent: passed('gateway pay') });
  expect(deliveryOf(id)!.headers.traceparent).toBe(passed('webhook delivery'));

  for (const [batch, phase] of [
    ['batch open', 'payment open'],
    ['batch finish', 'payment finish'],
  ]) {
    const link = { traceId, spanId: byName.get(phase!)!.spanId };
    const found = () =>
      collector.spans.filter(
        ({ name, links }) => name === batch && links.some(each => each.spanId === link.spanId),
      );
    await expect.poll(found).toHaveLength(1);
    expect(found()[0]!.traceId).not.toBe(traceId);
  }
});

test.each([
  ['without a header', undefined],
  ['with one that is malformed', begin('0'.repeat(32))],
])('a test payment %s gets a trace of its own, which its webhook belongs to', async (_what, traceparent) => {
  const link = `https://qr.nspk.ru/AD${newTraceId().toUpperCase().slice(0, 30)}?type=02&sum=1000&cur=RUB`;
  const { id } = await pay(customer.testKey, link, () => traceparent);
  const root = () =>
    collector.spans.find(
      span => span.name === 'POST /v1/payments' && attribute(span, 'kopeck.payment_id') === id,
    );
  await expect.poll(root).toBeDefined();
  const { traceId, parentSpanId } = root()!;
  expect(parentSpanId).toBeUndefined();
  expect(traceId).not.toBe('0'.repeat(32));
  await expect
    .poll(() =>
      spansOf(traceId)
        .map(({ name }) => name)
        .sort(),
    )
    .toEqual(['POST /v1/payments', 'payment open', 'webhook delivery']);
  expect(deliveryOf(id)!.headers.traceparent).toContain(`00-${traceId}-`);
});

test('a trace that the partner does not record is passed on and not exported', async () => {
  const qr = await makeQr(bank);
  const { id, traceId } = await pay(customer.liveKey, qr.link, trace => `00-${trace}-${partnerSpan}-00`);
  await expect.poll(() => deliveryOf(id)?.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-.*-00$`));
  expect(passedOn.filter(({ traceparent }) => traceparent?.includes(traceId)).length).toBe(2);
  expect(spansOf(traceId)).toEqual([]);
});

test('a payment without an outcome is polled in its trace, and the log names the trace', async () => {
  const qr = await makeQr(bank);
  await qr.fault({ on: 'pay', kind: 'answer_lost', times: 1 });
  const { id, status, traceId } = await pay(customer.liveKey, qr.link);
  expect(status).toBe('succeeded');
  await expect.poll(() => spansOf(traceId).map(({ name }) => name)).toContain('gateway poll');
  const line = service
    .output()
    .split('\n')
    .find(each => each.includes(id));
  expect(JSON.parse(line!)).toMatchObject({ msg: 'the gateway gave no final answer', trace_id: traceId });
});

test('payments do not notice that the collector is down', async () => {
  await collector.close();
  const qr = await makeQr(bank);
  expect((await pay(customer.liveKey, qr.link)).status).toBe('succeeded');
  const lost = async () => Number(/kopeck_spans_lost_total (\d+)/.exec(await service.readMetrics())?.[1]);
  await expect.poll(lost).toBeGreaterThan(0);
  expect(service.output()).toContain('traces are missing');
});
