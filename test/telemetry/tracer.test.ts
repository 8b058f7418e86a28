import { expect, test, vi } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { createTracer } from '../../src/telemetry/index.ts';
import { startOtlpReceiver } from '../helpers/otlp-receiver.ts';

const warn = vi.fn();
const log = { warn };

test('spans arrive at the collector with parent, links, times, attributes and errors', async () => {
  const { endpoint, spans, resources } = await startOtlpReceiver();
  const tracer = createTracer({ endpoint, clock, log });
  const before = Date.now();
  const parent = tracer.start('parent', { kind: 'server', attributes: { 'kopeck.mode': 'test' } });
  const child = tracer.start('child', { parent: parent.context, links: [parent.context] });
  child.set({ 'kopeck.batch_size': 3 });
  child.end('timeout');
  parent.end();
  await tracer.stop();
  const [first, second] = spans;
  expect(first).toMatchObject({
    name: 'child',
    kind: 1,
    traceId: parent.context.traceId,
    parentSpanId: parent.context.spanId,
    links: [{ traceId: parent.context.traceId, spanId: parent.context.spanId }],
    attributes: [{ key: 'kopeck.batch_size', value: { doubleValue: 3 } }],
    status: { code: 2, message: 'timeout' },
  });
  expect(second).toMatchObject({ name: 'parent', kind: 2, status: {}, links: [] });
  expect(second!.parentSpanId).toBeUndefined();
  const [start, end] = [second!.startTimeUnixNano, second!.endTimeUnixNano].map(Number);
  expect(Math.abs(start! / 1e6 - before)).toBeLessThan(5_000);
  expect(end!).toBeGreaterThanOrEqual(start!);
  expect(resources[0]).toMatchObject({
    attributes: expect.arrayContaining([{ key: 'service.name', value: { stringValue: 'kopeck' } }]),
  });
});

test('what the caller does not record is not exported', async () => {
  const { endpoint, spans } = await startOtlpReceiver();
  const tracer = createTracer({ endpoint, clock, log });
  const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: false };
  const span = tracer.start('child', { parent });
  expect(span.traceparent).toMatch(/^00-a{32}-[0-9a-f]{16}-00$/);
  span.end();
  await tracer.stop();
  expect(spans).toEqual([]);
});

test('more spans than may wait are dropped and counted, and logged once', async () => {
  warn.mockClear();
  const { endpoint, spans } = await startOtlpReceiver();
  const tracer = createTracer({ endpoint, clock, log, maxWaiting: 3 });
  for (let nth = 0; nth < 10; nth++) tracer.start('span').end();
  expect(tracer.lost()).toBe(7);
  await tracer.stop();
  expect(spans).toHaveLength(3);
  expect(warn).toHaveBeenCalledTimes(1);
});

test.each([
  ['is down', async (receiver: Receiver) => receiver.close()],
  ['hangs', async (receiver: Receiver) => receiver.answer(() => {})],
  ['refuses', async (receiver: Receiver) => receiver.answer(response => void response.writeHead(503).end())],
])('a collector that %s costs spans and nothing else', async (_what, breakIt) => {
  const receiver = await startOtlpReceiver();
  await breakIt(receiver);
  const tracer = createTracer({ endpoint: receiver.endpoint, clock, log, exportTimeoutMs: 300 });
  tracer.start('span').end();
  await tracer.stop();
  expect(tracer.lost()).toBe(1);
});

type Receiver = Awaited<ReturnType<typeof startOtlpReceiver>>;
