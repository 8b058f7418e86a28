import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabaseClock } from '../../src/db/postgres/database-clock.ts';
import { openSession } from '../../src/operators/sessions.ts';
import { createSingleProcess } from '../../src/runtime/cluster-channel.ts';
import { type Cleanup, shutDown } from '../../src/runtime/graceful-shutdown.ts';
import { startService } from '../../src/runtime/service.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { createPartnerWithKeys, keyring, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { serviceEnv } from '../helpers/cli.ts';
import { browserAt } from '../helpers/console.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { holdLocks } from '../helpers/locks.ts';
import { insertOperator } from '../helpers/review.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';

const { pool, url } = await createDatabase();
await setRate(pool);
const cleanups: Cleanup[] = [];
const address = (await startService(
  readSettings({ ...serviceEnv(url), ROLES: 'api,worker,console', PORT: '0', LOG_LEVEL: 'silent' }),
  { pool, clock: await openDatabaseClock(pool) },
  createSingleProcess(),
  cleanups,
))!;
afterAll(() => shutDown(cleanups));

const slow = await createPartnerWithKeys(pool);
const other = await createPartnerWithKeys(pool);

/** What takes a long time: the slow partner's lists, event feed and statement, and the search of the console. */
const slowStatements = /FROM payments_page\(|SELECT \* FROM \w*events|ledger_entries_before/;
const consoleSearch = /^WITH scanned/;
const isSlow = ({ text, values = [] }: pg.QueryConfig) =>
  consoleSearch.test(text) || (slowStatements.test(text) && values.includes(uuidFromId(slow.partnerId)));

const lockNumber = 20_261_116;
/** A slow statement waits at the server, with its connection, while another session holds this lock. */
const waitForLock = `WITH unlimited AS MATERIALIZED (SELECT set_config('lock_timeout', '0', true)),
  slow AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(${lockNumber}) FROM unlimited)`;
const send = pg.Client.prototype.query as (...args: unknown[]) => unknown;
pg.Client.prototype.query = function slowly(this: pg.Client, statement: pg.QueryConfig, ...rest: unknown[]) {
  if (!statement?.text || !isSlow(statement)) return send.call(this, statement, ...rest);
  const text = consoleSearch.test(statement.text)
    ? statement.text.replace(/^WITH scanned/, `${waitForLock}, scanned`).replace('(SELECT) AS always', 'slow')
    : `${waitForLock} SELECT q.* FROM slow, LATERAL (${statement.text}) AS q`;
  return send.call(this, { ...statement, text, name: undefined }, ...rest);
} as typeof pg.Client.prototype.query;

async function countHeld(): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND objid = ${lockNumber} AND NOT granted`,
  );
  return rows[0]!.count;
}

/** Keeps sending requests, so that there is always one more than the service carries out. */
function flood(requests: number, request: () => Promise<{ status: number }>) {
  let isOver = false;
  const statuses = new Set<number>();
  const repeat = async () => {
    while (!isOver) {
      statuses.add((await request()).status);
      await sleep(10);
    }
  };
  const ended = Promise.all(Array.from({ length: requests }, repeat));
  return {
    statuses,
    stop: () => {
      isOver = true;
      return ended;
    },
  };
}

async function operatorAt(): Promise<ReturnType<typeof browserAt>> {
  const { operatorId } = await insertOperator(pool, 'admin');
  const visitor = { address: '127.0.0.1', userAgent: 'test' };
  const browser = browserAt(address);
  browser.cookie = `__Host-kopeck=${(await openSession(pool, systemClock, operatorId, visitor)).token}`;
  return browser;
}

test('reads that hang hold up no payment, recovery, webhook or read of another partner', async () => {
  const receiver = await startReceiver();
  await setWebhook(auditContextOf(pool), createVault(keyring), other.partnerId, receiver.url);
  const reader = partnerAt(address, slow.testKey);
  const partner = partnerAt(address, other.testKey);
  const operator = await operatorAt();
  expect((await reader.pay({ qr_url: newLink(10_000) })).json.status).toBe('succeeded');

  const { unlock } = await holdLocks(url, 'SELECT pg_advisory_xact_lock($1)', [lockNumber]);
  const today = new Date().toISOString().slice(0, 10);
  const paths = ['/v1/payments', '/v1/payments?status=failed', '/v1/events', `/v1/statement?day=${today}`];
  const floods = [
    ...paths.map(path => flood(8, () => reader.get(path))),
    flood(16, () => operator.get('/payments')),
  ];
  try {
    // Two places of the partner, and the connections of the console.
    await vi.waitFor(async () => expect(await countHeld()).toBeGreaterThanOrEqual(4), { timeout: 60_000 });

    expect((await partner.pay({ qr_url: newLink(10_000) })).json.status).toBe('succeeded');
    const metadata = { kopeck_scenario: 'review_succeeds' };
    const { json: reviewed } = await partner.pay({ qr_url: newLink(10_000), metadata });
    expect(reviewed.status).toBe('processing');
    expect((await partner.get('/v1/payments?limit=1')).json.data[0].id).toBe(reviewed.id);
    expect((await partner.post('/v1/test/clock', { body: { advance_sec: 120 } })).status).toBe(200);
    await vi.waitFor(() => expect(receiver.received.map(({ json }) => json.data.id)).toContain(reviewed.id), {
      timeout: 60_000,
    });
    await expect.poll(async () => (await fetch(`${address}/readyz`)).status).toBe(200);
    for (const { statuses } of floods) expect([...statuses]).not.toContain(200);
    // The slow partner pays as well.
    expect((await reader.pay({ qr_url: newLink(10_000) })).json.status).toBe('succeeded');
  } finally {
    await unlock();
    await Promise.all(floods.map(({ stop }) => stop()));
  }
  expect((await reader.get('/v1/payments')).status).toBe(200);
  expect((await operator.get('/payments')).status).toBe(200);
});
