import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { pruneTestData } from '../../src/payments/index.ts';
import { partnerAt } from '../helpers/api.ts';
import { kopeck, startService } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { freePort } from '../helpers/free-port.ts';
import { issueKey, secretKey } from '../helpers/partners.ts';
import { isPrometheusInstalled, startPrometheus } from '../helpers/prometheus.ts';
import { createShopOfThePast } from '../payments/archive-world.ts';
import { databaseAt } from './citus.ts';
import { createHistory, isCitusAvailable, startCitus } from './world.ts';

/** One after the other: each test goes on with the archive of the one before. */
describe.runIf(isCitusAvailable)('an archive on the workers', async () => {
  if (!isCitusAvailable) return;
  const citus = await startCitus();
  const world = await createHistory(citus, 'reads');
  const { pool, clock, archive, distribute, findings, rowsOf } = world;
  const { partnerId, everything, overMidnight, shop, requests } = await createShopOfThePast(pool, world);
  const before = await everything();
  const counts = await rowsOf(partnerId);

  const expectSame = async (texts = before) => {
    expect(await everything()).toEqual(texts);
    expect(await findings()).toEqual([]);
  };
  const onEveryWorker = async (statement: string) => {
    for (const { url } of citus.workers) {
      const client = new pg.Client({ connectionString: databaseAt(url, 'reads') });
      await client.connect();
      await client.query('SET citus.enable_manual_changes_to_shards = on');
      await client.query('SET citus.enable_ddl_propagation = off');
      await client.query(statement).finally(() => client.end());
    }
  };
  /** The server that has the archived rows of the partner. */
  const workerOf = async () => {
    const { rows } = await pool.query<{ nodeport: number; shardid: bigint }>(
      `SELECT nodeport, shardid FROM citus_shards
        WHERE shardid = get_shard_id_for_distribution_column('payments_archive', $1::uuid)`,
      [uuidFromId(partnerId)],
    );
    const own = citus.workers.find(({ port }) => port === rows[0]!.nodeport)!;
    return { own, other: citus.workers.find(worker => worker !== own)!, shard: rows[0]!.shardid };
  };

  test('gives the same answers as a local one, byte for byte', async () => {
    await archive('2026-02');
    expect(await everything()).toEqual(before);
    expect(await distribute()).toEqual({ outcome: 'distributed', rows: 21, workers: 2 });
    await expectSame();
    expect(await distribute()).toEqual({ outcome: 'already_distributed', workers: 2 });
    for (const { body, key, answer } of requests) {
      const replay = await shop.pay(body, key);
      expect(replay.json.id).toBe(JSON.parse(answer).id);
    }
  });

  test('is append-only on the workers too', async () => {
    for (const change of [
      "UPDATE payments_archive SET recipient = 'x'",
      "DELETE FROM entries_archive WHERE mode = 'live'",
    ])
      await expect(pool.query(change)).rejects.toThrow('its rows are only ever added');
    await expect(pool.query('TRUNCATE payments_archive_2026_01')).rejects.toThrow(
      'its rows are only ever added',
    );
  });

  test('a run that was killed after a copy leaves the same answers, and the next one goes on', async () => {
    world.at('2026-04-20T00:00:00Z');
    const values = [uuidFromId(partnerId), '2026-02-01', clock.nowMs()];
    await pool.query("SELECT archive_prepare('2026-02-01')");
    await pool.query(
      `SELECT archive_copy_payments($1, 'live', archivable_ids($1, 'live', $2, '00000000-0000-0000-0000-000000000000', to_timestamp($3 / 1000.0), 500))`,
      values,
    );
    await pool.query(
      `SELECT archive_copy_entries($1, 'live', $2::date, archivable_numbers($1, 'live', $2::date, 1000, 500))`,
      values.slice(0, 2),
    );
    const { archived, live } = await rowsOf(partnerId);
    expect(archived[0]! + live[0]!).toBeGreaterThan(counts.live[0]!);
    await expectSame();
    expect(await archive('2026-03')).toMatchObject({ outcome: 'archived', payments: 1, entries: 3 });
    const moved = await rowsOf(partnerId);
    expect(moved.live.map((count, nth) => count + moved.archived[nth]!)).toEqual(counts.live);
    await expectSame();
  });

  test('a worker with a full disk in the middle of a month: the batch rolls back, and the next run goes on', async () => {
    for (let nth = 0; nth < 3; nth++) await world.pay(partnerId);
    world.at('2026-06-20T00:00:00Z');
    const rows = await rowsOf(partnerId);
    const all = await everything();
    await pool.query("SELECT archive_prepare('2026-04-01')");
    const { shard } = await workerOf();
    await onEveryWorker(`DO $do$ BEGIN
      CREATE FUNCTION public.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
      IF to_regclass('payments_archive_${shard}') IS NOT NULL THEN
        CREATE TRIGGER full_disk BEFORE INSERT ON payments_archive_${shard} FOR EACH ROW EXECUTE FUNCTION public.full_disk();
      END IF; END $do$`);
    await expect(archive('2026-05')).rejects.toThrow('No space left on device');
    expect(await rowsOf(partnerId)).toEqual(rows);
    await expectSame(all);
    await onEveryWorker('DROP FUNCTION IF EXISTS public.full_disk() CASCADE');
    expect(await archive('2026-05')).toMatchObject({ outcome: 'archived', payments: 3, entries: 6 });
    await expectSame(all);
  });

  test('old test data leaves it', async () => {
    expect((await rowsOf(partnerId)).archived[0]).toBe(9);
    await pruneTestData(pool, clock, { keptDays: 90 });
    expect((await rowsOf(partnerId)).archived[0]).toBe(5);
    expect(await findings()).toEqual([]);
  });

  test('a shard that moves to another worker gives the same answers', async () => {
    const all = await everything();
    const { own, other, shard } = await workerOf();
    await pool.query(
      "SELECT citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, 'force_logical')",
      [shard, own.port, other.port],
    );
    expect((await workerOf()).own).toBe(other);
    await expectSame(all);
    await expect(pool.query("UPDATE payments_archive SET recipient = 'x'")).rejects.toThrow(
      'only ever added',
    );
  });

  test('kill -9 of a worker: payments go on, old history gets 503, and the service names it until it is back', async () => {
    const metricsPort = await freePort();
    const env = {
      DATABASE_URL: world.url,
      SECRET_KEY: secretKey,
      METRICS_PORT: `${metricsPort}`,
      DATA_DIR: newFolder(),
    };
    const service = await startService(env);
    const prometheus = isPrometheusInstalled ? await startPrometheus(metricsPort) : undefined;
    const live = partnerAt(service.address, await issueKey(pool, partnerId, 'live'));
    const readiness = async () => (await fetch(`${service.address}/readyz`)).json();
    const alarms = async () => (await listAlarms(pool, { cleared: false })).map(({ kind }) => kind);
    const waiting = { interval: 500 };
    const all = await everything();
    const { own } = await workerOf();
    const node = `127.0.0.1:${own.port}`;
    const old = `/v1/payments/${overMidnight.paymentId}`;
    expect((await live.get(old)).status).toBe(200);
    await expect.poll(readiness, waiting).toEqual({ ok: true, unreachable_archive: [] });

    await own.kill();
    const [recent] = [await world.pay(partnerId), await world.pay(partnerId)];
    expect((await live.get(`/v1/payments/${recent.paymentId}`)).status).toBe(200);
    expect((await live.get('/v1/payments?limit=1')).status).toBe(200);
    for (const path of [old, '/v1/statement?day=2026-01-31', '/v1/events?limit=2']) {
      const { status, json, headers } = await live.get(path);
      expect([path, status, json.error?.code]).toEqual([path, 503, 'gateway_unavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await expect.poll(readiness, waiting).toEqual({ ok: true, unreachable_archive: [node] });
    await expect.poll(alarms, waiting).toContain('archive_unreachable');
    expect((await kopeck(env, 'alarm', 'list')).stdout).toMatch(new RegExp(`archive_unreachable +${node}`));
    const { checks } = JSON.parse((await kopeck(env, 'doctor', '--json')).stdout);
    expect(checks.find(({ check }: { check: string }) => check === 'archive')).toMatchObject({
      state: 'bad',
      detail: expect.stringContaining(`the worker ${node} does not answer`),
    });
    if (prometheus) await expect.poll(prometheus.firing, waiting).toContain('KopeckArchiveUnreachable');

    await own.start();
    await expect.poll(readiness, waiting).toEqual({ ok: true, unreachable_archive: [] });
    await expect.poll(alarms, waiting).not.toContain('archive_unreachable');
    if (prometheus) await expect.poll(prometheus.firing, waiting).not.toContain('KopeckArchiveUnreachable');
    await service.stop();
    const after = await everything();
    const kept = Object.keys(all).filter(path => path.includes('day=2026-01') || path.includes('/pay_'));
    for (const path of kept) expect([path, after[path]]).toEqual([path, all[path]]);
    expect(await findings()).toEqual([]);
  });
});
