import { afterAll, expect, test } from 'vitest';
import { createAlarms } from '../../src/alarms/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { readSettings } from '../../src/base/settings.ts';
import { startHeartbeat } from '../../src/db/heartbeat.ts';
import type { Cleanup } from '../../src/runtime/graceful-shutdown.ts';
import { createMetrics, serveMetrics } from '../../src/runtime/metrics.ts';
import { createDatabase } from '../helpers/database.ts';
import { sendRequest } from '../helpers/raw-http.ts';

const { pool } = await createDatabase();
const heartbeat = await startHeartbeat(pool);
const cleanups: Cleanup[] = [heartbeat.close];
afterAll(() => Promise.all(cleanups.map(cleanup => cleanup())));

let missing = 0;
const registry = createMetrics({
  db: pool,
  heartbeat,
  clockOffset: () => ({ ms: -31_000, uncertaintyMs: 500 }),
  requestLog: {
    record: () => {},
    lost: () => ({ full: missing, failed: 0, limited: 7 }),
    stop: async () => {},
  },
});
const settings = { ...readSettings({}), metricsPort: 0 };

test('open alarms and the offset of the clock are read on each scrape', async () => {
  const address = await serveMetrics(settings, () => registry.metrics(), cleanups);
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  const scrape = async () => (await (await fetch(address)).text()).split('\n');
  expect((await fetch(address)).headers.get('content-type')).toMatch(/^text\/plain/);
  expect(await scrape()).not.toContain('kopeck_alarms_open{kind="payment_overdue"} 1');
  const alarms = createAlarms({ db: pool, clock: systemClock, log: { warn: () => {} } });
  await alarms.raise({ kind: 'payment_overdue', subject: 'pay_1', detail: 'Look.' });
  expect(await scrape()).toContain('kopeck_alarms_open{kind="payment_overdue"} 1');
  expect(await scrape()).toContain(`kopeck_clock_offset_seconds{process="${heartbeat.instance}"} -31`);
  expect((await fetch(address.replace('/metrics', '/'))).status).toBe(404);
});

test('requests that are missing from the request log are counted by the reason', async () => {
  missing = 3;
  const scrape = async () => (await registry.metrics()).split('\n');
  expect(await scrape()).toContain('kopeck_request_log_missing_total{reason="full"} 3');
  missing = 4;
  expect(await scrape()).toContain('kopeck_request_log_missing_total{reason="full"} 4');
  expect(await scrape()).toContain('kopeck_request_log_missing_total{reason="limited"} 7');
});

test('scrapes that arrive together share one reading, and a failing one is no metrics', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let readings = 0;
  const read = () => {
    readings += 1;
    return readings === 1 ? promise : Promise.reject(new Error('no process answers'));
  };
  const address = await serveMetrics(settings, read, cleanups);
  const scrapes = [fetch(address), fetch(address), fetch(address)];
  await expect.poll(() => readings).toBe(1);
  resolve('some 1\n');
  expect(await Promise.all(scrapes.map(async scrape => (await scrape).text()))).toContain('some 1\n');
  expect((await fetch(address)).status).toBe(503);
});

test('only an address, localhost or METRICS_HOST as the host gets metrics', async () => {
  const address = await serveMetrics(
    { ...settings, metricsHost: 'localhost' },
    async () => 'some 1\n',
    cleanups,
  );
  const statusFor = async (host: string) =>
    (await sendRequest(new URL(address).origin, { path: '/metrics', headers: { host } })).status;
  for (const host of ['127.0.0.1', '[::1]:9100', 'LOCALHOST:9100']) expect(await statusFor(host)).toBe(200);
  for (const host of ['rebound.example', 'localhost.evil.example']) expect(await statusFor(host)).toBe(403);
});

test('a port that is in use is named', async () => {
  const address = await serveMetrics(settings, async () => '', cleanups);
  const metricsPort = Number(new URL(address).port);
  await expect(serveMetrics({ ...settings, metricsPort }, async () => '', cleanups)).rejects.toThrow(
    `METRICS_PORT ${metricsPort} on 127.0.0.1 is in use`,
  );
});
