import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabaseClock } from '../../src/db/database-clock.ts';
import { openPool } from '../../src/db/pool.ts';
import { sessionOfAll } from '../../src/db/shards/sessions.ts';
import { createSingleProcess } from '../../src/runtime/cluster-channel.ts';
import { type Cleanup, shutDown } from '../../src/runtime/graceful-shutdown.ts';
import { startService } from '../../src/runtime/service.ts';
import { createPartnerWithKeys, newLink, partnerAt, secretKey, setRate } from '../helpers/api.ts';
import { createShard } from '../helpers/create-shard.ts';
import { createDatabase } from '../helpers/database.ts';
import { holdLocks } from '../helpers/locks.ts';

describe('a service of two shards', async () => {
  const { pool: first, url } = await createDatabase();
  await createShard(first, systemClock);
  const pool = openPool({ ...first.options, session: sessionOfAll(2) });
  await setRate(pool);
  const cleanups: Cleanup[] = [];
  const channel = createSingleProcess();
  const address = (await startService(
    readSettings({
      DATABASE_URL: url,
      ROLES: 'api,worker',
      PORT: '0',
      LOG_LEVEL: 'silent',
      GATEWAY_URL: 'http://127.0.0.1:1',
      RATE_SOURCES: 'fixed:92.50',
      SECRET_KEY: secretKey,
    }),
    { pool, clock: await openDatabaseClock(pool) },
    channel,
    cleanups,
  ))!;
  afterAll(async () => {
    await shutDown(cleanups);
    await pool.end();
  });
  // New partners go to the shards in turn.
  const [one, other] = [await createPartnerWithKeys(pool), await createPartnerWithKeys(pool)];
  const pays = ({ testKey }: typeof one) =>
    partnerAt(address, testKey).post('/v1/payments', {
      body: { qr_url: newLink(10_000) },
      headers: { 'idempotency-key': randomUUID() },
    });
  const readiness = async () => (await fetch(`${address}/readyz`)).json();
  const alarms = async () =>
    (await pool.query("SELECT subject FROM alarms WHERE kind = 'shard_unreachable' AND cleared_at IS NULL"))
      .rows;

  test('names them while all is well', async () => {
    const { rows } = await pool.query('SELECT shard FROM partners ORDER BY id');
    expect(rows).toEqual([{ shard: 0 }, { shard: 1 }]);
    await expect.poll(readiness).toEqual({ ok: true, shards: 2, unreachable_shards: [] });
    for (const partner of [one, other]) expect(await pays(partner)).toMatchObject({ status: 200 });
    expect(await channel.readMetrics()).toContain('kopeck_shard_unreachable{shard="1"} 0\n');
  });

  test.each([
    ['are locked', 'LOCK TABLE shard_1.accounts IN ACCESS EXCLUSIVE MODE', 'SELECT'],
    ['are gone', 'SELECT', 'ALTER TABLE shard_1.accounts RENAME TO lost_accounts'],
  ])('if the tables of one %s, its partners get 503 and the others pay on', async (_what, lock, change) => {
    const { unlock } = await holdLocks(url, lock, []);
    await first.query(change);
    // Until it is noticed, requests wait for a lock. A table that is missing is noticed within a second.
    if (change !== 'SELECT') await expect.poll(readiness).toMatchObject({ unreachable_shards: [1] });
    const refused = await pays(other);
    expect(refused).toMatchObject({ status: 503, json: { error: { code: 'gateway_unavailable' } } });
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    await expect.poll(readiness).toEqual({ ok: true, shards: 2, unreachable_shards: [1] });
    const startedMs = performance.now();
    expect(await pays(other)).toMatchObject({ status: 503 });
    expect(await partnerAt(address, other.testKey).get('/v1/balance')).toMatchObject({ status: 503 });
    // Each would wait so long for a lock.
    expect(performance.now() - startedMs).toBeLessThan(3_000);
    for (let nth = 0; nth < 5; nth++) expect(await pays(one)).toMatchObject({ status: 200 });
    expect(await channel.readMetrics()).toContain('kopeck_shard_unreachable{shard="1"} 1\n');
    await expect.poll(alarms).toEqual([{ subject: 'shard 1' }]);

    await unlock();
    if (change !== 'SELECT') await first.query('ALTER TABLE shard_1.lost_accounts RENAME TO accounts');
    await expect.poll(readiness).toEqual({ ok: true, shards: 2, unreachable_shards: [] });
    expect(await pays(other)).toMatchObject({ status: 200 });
    await expect.poll(alarms).toEqual([]);
  });
});
