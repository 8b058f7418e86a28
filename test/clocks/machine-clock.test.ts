import { expect, test, vi } from 'vitest';
import { setLimits } from '../../src/partners/index.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { createPartnerWithKeys, keyring, newLink, partnerAt, secretKey } from '../helpers/api.ts';
import { kopeckProcess } from '../helpers/cli.ts';
import { auditContextOf, createDatabase, createFundedPartner } from '../helpers/database.ts';
import { makeQr } from '../helpers/simulator.ts';
import { createMachines, databaseTime, machineEnv, readStoredTimes } from './world.ts';

const { pool, url } = await createDatabase();
const startedMs = await databaseTime(pool);
const hourMs = 3_600_000;
const { bank, start } = await createMachines(url);
const [ahead, behind] = await Promise.all([start({ offsetMs: hourMs }), start({ offsetMs: -hourMs })]);
await vi.waitFor(
  async () => expect((await pool.query('SELECT FROM rates')).rowCount).toBeGreaterThan(0),
  60_000,
);

test('a wrong clock of a machine changes no time on record', async () => {
  const { partnerId, liveKey, testKey } = await createPartnerWithKeys(pool);
  await setWebhook(auditContextOf(pool), createVault(keyring), partnerId, 'https://127.0.0.1:1/refuses');
  for (const { address } of [ahead, behind]) {
    const { link } = await makeQr(bank);
    expect((await partnerAt(address, liveKey).pay({ qr_url: link })).json.status).toBe('succeeded');
    const delayed = await partnerAt(address, testKey).pay({ qr_url: newLink(10_02) });
    expect(delayed.json.status).toBe('processing');
  }
  await vi.waitFor(
    async () => expect((await pool.query('SELECT FROM webhook_attempts')).rowCount).toBeGreaterThan(1),
    60_000,
  );
  const times = await readStoredTimes(pool);
  expect(times.map(({ column }) => column)).toEqual(
    expect.arrayContaining([
      'accounts.last_entry_at',
      'deliveries.next_at',
      'entries.created_at',
      'events.at',
      'gateway_calls.at',
      'open_payments.next_at',
      'payments.created_at',
      'payments.settled_at',
      'rate_buckets.filled_at',
      'rates.created_at',
      'webhook_attempts.at',
      'endpoints.leased_until',
    ]),
  );
  const nowMs = await databaseTime(pool);
  for (const { column, min, max } of times) {
    expect(min.getTime(), `${column} is too early`).toBeGreaterThan(startedMs - 60_000);
    expect(max.getTime(), `${column} is too late`).toBeLessThan(nowMs + 10 * 60_000);
  }
});

test('a bucket that a process with a wrong clock has used refuses nobody for longer', async () => {
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  await setLimits(auditContextOf(pool), partnerId, { otherRps: 2 });
  const ask = async (address: string) => (await partnerAt(address, testKey).get('/v1/ping')).status;
  await vi.waitFor(async () => expect(await ask(ahead.address)).toBe(429), { interval: 0, timeout: 60_000 });
  await vi.waitFor(async () => expect(await ask(behind.address)).toBe(200), {
    interval: 100,
    timeout: 60_000,
  });
});

test('a credit from a machine that is 40 days ahead has the time of the database', async () => {
  const partnerId = await createFundedPartner(pool, 0n);
  const machine = machineEnv({ offsetMs: 40 * 24 * hourMs });
  const env = { DATABASE_URL: url, SECRET_KEY: secretKey, ...machine };
  const args = ['--mode', 'live', '--usdt', '5', '--reference', 'invoice 7'];
  const { code, stderr } = await kopeckProcess(env, 'balance', 'credit', partnerId, ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { rows } = await pool.query<{ ahead: number }>(
    `SELECT extract(epoch FROM created_at - clock_timestamp())::float8 AS ahead FROM entries WHERE reference = 'invoice 7'`,
  );
  expect(Math.abs(rows[0]!.ahead)).toBeLessThan(60);
});

test('a clock that is an hour ahead is not ready, raises an alarm and shows in the metrics', async () => {
  const ready = await fetch(`${ahead.address}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    {
      ok: false,
      reason: expect.stringMatching(/^the clock of this machine is 3(599|600)\.\d s ahead of the database's/),
    },
  ]);
  await vi.waitFor(async () => {
    const { rows } = await pool.query(
      "SELECT detail FROM alarms WHERE kind = 'clock_offset' AND cleared_at IS NULL",
    );
    expect(rows).toEqual([
      { detail: expect.stringMatching(/^Process \d+ on \S+: the clock of this machine is 3\d+\.\d s/) },
    ]);
  }, 60_000);
  const metrics = await behind.readMetrics();
  expect(metrics).toMatch(/kopeck_clock_offset_seconds\{process="\d+"\} -3(599|600)/);
});

test('a clock that jumps while the service runs changes no time on record', async () => {
  const service = await start({ jumpMs: hourMs });
  const { testKey } = await createPartnerWithKeys(pool);
  await expect.poll(async () => (await fetch(`${service.address}/readyz`)).status).toBe(200);
  process.kill(service.pid, 'SIGUSR2');
  const payments = [];
  // The signal is handled at some moment during these.
  for (let nth = 0; nth < 20; nth++)
    payments.push(await partnerAt(service.address, testKey).pay({ qr_url: newLink(10_00) }));
  await expect.poll(async () => (await fetch(`${service.address}/readyz`)).status).toBe(503);
  const nowMs = await databaseTime(pool);
  for (const { json } of payments) expect(Math.abs(Date.parse(json.created_at) - nowMs)).toBeLessThan(60_000);
});
