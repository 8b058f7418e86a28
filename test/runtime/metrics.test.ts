import { afterAll, expect, test } from 'vitest';
import { createAlarms } from '../../src/alarms/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { readSettings } from '../../src/base/settings.ts';
import { openOutsidePools, openReadPool } from '../../src/db/postgres/outside-pools.ts';
import { startHeartbeat } from '../../src/db/processes/heartbeat.ts';
import { createSingleProcess } from '../../src/runtime/cluster-channel.ts';
import type { Cleanup } from '../../src/runtime/graceful-shutdown.ts';
import { createMeters } from '../../src/runtime/meters.ts';
import { readMetricsOf } from '../../src/runtime/metrics.ts';
import { serveMetrics } from '../../src/runtime/serve-metrics.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { sendRequest } from '../helpers/raw-http.ts';

const { pool } = await createDatabase();
const heartbeat = await startHeartbeat({ pool, clock: systemClock });
const cleanups: Cleanup[] = [heartbeat.close];
afterAll(() => Promise.all(cleanups.map(cleanup => cleanup())));

const outside = openOutsidePools(pool);
const readPool = openReadPool(pool);
cleanups.push(outside.close, () => readPool.end());
const clock = manualClock();
let missing = 0;
const meters = createMeters();
const metrics = readMetricsOf(meters.metrics, {
  pool,
  readPool,
  outside,
  heartbeat: { ...heartbeat, canCommit: () => false },
  clock,
  clockOffset: () => ({ ms: -31_000, uncertaintyMs: 500 }),
  requestLog: {
    record: () => {},
    lost: () => ({ full: missing, failed: 0, limited: 7 }),
    stop: async () => {},
  },
  rateMaxAgeSec: 300,
  tracer: undefined,
  archive: { nodes: () => ['a:1', 'b:1'], unreachable: () => ['b:1'], stop: async () => {} },
});
const channel = createSingleProcess();
channel.shareMetrics(metrics);
const scrape = async () => (await channel.readMetrics()).split('\n');
const settings = { ...readSettings({}), metricsPort: 0 };

test('open alarms, rate and the offset of the clock are read when somebody asks', async () => {
  const address = await serveMetrics(settings, channel.readMetrics, cleanups);
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  const lines = async () => (await (await fetch(address)).text()).split('\n');
  expect((await fetch(address)).headers.get('content-type')).toMatch(/^text\/plain/);
  expect(await lines()).not.toContain('kopeck_alarms_open{kind="payment_overdue"} 1');
  const alarms = createAlarms({ db: pool, clock, log: { warn: () => {} } });
  await alarms.raise({ kind: 'payment_overdue', subject: 'pay_1', detail: 'Look.' });
  clock.advance(5_001);
  expect(await lines()).toContain('kopeck_alarms_open{kind="payment_overdue"} 1');
  expect(await lines()).toContain('kopeck_rate_max_age_seconds 300');
  expect(await lines()).toContain(`kopeck_clock_offset_seconds{process="${heartbeat.instance}"} -31`);
  expect((await fetch(address.replace('/metrics', '/'))).status).toBe(404);
});

test('a database that answers and does not commit', async () => {
  const lines = await scrape();
  expect(lines).toContain('kopeck_database_available{for="reads"} 1');
  expect(lines).toContain('kopeck_database_available{for="writes"} 0');
});

test('requests that are missing from the request log are counted by the reason', async () => {
  missing = 3;
  expect(await scrape()).toContain('kopeck_request_log_missing_total{reason="full"} 3');
  missing = 4;
  expect(await scrape()).toContain('kopeck_request_log_missing_total{reason="full"} 4');
  expect(await scrape()).toContain('kopeck_request_log_missing_total{reason="limited"} 7');
});

test('a statement that waits for a connection is measured, one that finds one free is not', async () => {
  const { requestLog: one } = outside;
  const waits = async () =>
    (await scrape()).find(line => line.startsWith(`${waitCount}{pool="request_log"}`));
  await one.query('SELECT 1');
  expect(await waits()).toMatch(/ 0$/);
  const held = await one.connect();
  const waiting = one.query('SELECT 1');
  expect(await scrape()).toContain('kopeck_pool_connections{pool="request_log",state="waiting"} 1');
  held.release();
  await waiting;
  expect(await waits()).toMatch(/ 1$/);
  expect(await scrape()).toContain('kopeck_pool_connections{pool="request_log",state="waiting"} 0');
});

const waitCount = 'kopeck_pool_wait_seconds_count';

test('the bot has a leader only where it runs', async () => {
  expect((await scrape()).join('\n')).not.toContain('kopeck_leader{');
  meters.setBotLeader(false);
  expect(await scrape()).toContain('kopeck_leader{role="bot"} 0');
  meters.setBotLeader(true);
  expect(await scrape()).toContain('kopeck_leader{role="bot"} 1');
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
  const onLocalhost = { ...settings, metricsHost: 'localhost' };
  const address = await serveMetrics(onLocalhost, async () => 'some 1\n', cleanups);
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
