import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId, uuidFromId } from '../../src/base/ids.ts';
import { transaction } from '../../src/db/pool.ts';
import { chooseShard } from '../../src/db/shards/choose-shard.ts';
import { createCallLog, listCalls } from '../../src/gateway/index.ts';
import { isCitusAvailable } from './available.ts';
import { fillFirstShard } from './pool.ts';
import { logFrom, startCitusWorld } from './world.ts';

describe.runIf(isCitusAvailable)('shards on Citus', async () => {
  if (!isCitusAvailable) return;
  const world = await startCitusWorld(2);
  const { pool, shards, all, writers, opening, newPartner, serversOf } = world;
  const { rows: made } = await pool.query<{ payments: string; nodeport: number }>(
    `SELECT table_name::text AS payments, nodeport FROM citus_shards WHERE table_name::text LIKE '%.payments'`,
  );

  /** Opens payments in one batch, and finishes them. */
  const pay = async (shard: number, count: number) => {
    const partnerId = await newPartner(shard);
    const payments = Array.from({ length: count }, () => opening(partnerId));
    const opened = await Promise.all(payments.map(payment => writers[shard]!.open(payment)));
    expect(opened.map(({ verdict }) => verdict)).toEqual(payments.map(() => 'opened'));
    for (const { paymentId } of payments)
      await writers[shard]!.finish({ partnerId, mode: 'live', paymentId, outcome: 'succeeded' });
    return { partnerId, payments };
  };

  test('each shard is whole on one worker, and what stands once is plain', async () => {
    expect(made.map(({ payments }) => payments).sort()).toEqual(['shard_1.payments', 'shard_2.payments']);
    const { rows } = await pool.query(
      `SELECT citus_table_type AS kind, split_part(table_name::text, '.', 1) AS schema,
              count(DISTINCT nodename || nodeport)::int AS nodes
         FROM citus_shards GROUP BY 1, 2 ORDER BY 2`,
    );
    expect(rows).toEqual([
      { kind: 'schema', schema: 'shard_1', nodes: 1 },
      { kind: 'schema', schema: 'shard_2', nodes: 1 },
    ]);
  });

  test('a batch of openings is one transaction of its node, and other nodes do nothing', async () => {
    const partnerId = await newPartner(1);
    const { own, other } = serversOf(1);
    const payments = Array.from({ length: 20 }, () => opening(partnerId));
    const writer = world.unguarded(1);
    // Plans and connections of a session are made with its first statement.
    await writer.open(opening(partnerId));
    const logs = [own, other, world.citus.coordinator].map(logFrom);
    await Promise.all(payments.map(payment => writer.open(payment)));
    await Promise.all(
      payments.map(({ paymentId }) =>
        writer.finish({ partnerId, mode: 'live', paymentId, outcome: 'succeeded' }),
      ),
    );
    const [onOwn, ...elsewhere] = logs.map(read => read());
    expect(onOwn).toContain('payments_open');
    expect(onOwn).not.toMatch(/PREPARE TRANSACTION|COPY/);
    for (const log of elsewhere) expect(log).not.toMatch(/PREPARE TRANSACTION|COPY|INSERT|UPDATE|BEGIN/);
  });

  test('calls to the payment gateway are logged on the node, and read through the coordinator', async () => {
    const paymentId = newId('pay', systemClock);
    const log = logFrom(world.citus.coordinator);
    const callLog = createCallLog({ db: shards[1]!, clock: systemClock, log: { warn: () => {} } });
    const call = {
      qrUrl: undefined,
      durationMs: 1,
      status: 200,
      outcome: 'ok',
      request: '{}',
      response: '{}',
      error: null,
    };
    for (const [nth, name] of (['pay', 'poll', 'poll'] as const).entries())
      callLog.record({ ...call, paymentId, call: name, startedAtMs: systemClock.nowMs() + nth });
    await callLog.stop();
    expect(callLog.lost()).toBe(0);
    expect(log()).not.toContain('gateway_calls');
    expect((await listCalls(all, paymentId)).map(({ call: name }) => name)).toEqual(['pay', 'poll', 'poll']);
  });

  test('payments of a shard go on while the other worker is down', async () => {
    const partnerId = await newPartner(1);
    await serversOf(1).other.kill();
    try {
      const payment = opening(partnerId);
      expect(await world.unguarded(1).open(payment)).toMatchObject({ verdict: 'opened' });
    } finally {
      await serversOf(1).other.start();
    }
  });

  test('a new partner goes to the shard with the fewest payments whose worker answers', async () => {
    const choose = () => transaction(pool, chooseShard);
    await fillFirstShard(pool);
    await pay(2, 1);
    await pay(1, 20);
    for (const shard of [1, 2]) await pool.query(`ANALYZE shard_${shard}.payments`);
    expect(await choose()).toBe(2);
    const { own } = serversOf(2);
    await own.kill();
    try {
      expect(await choose()).toBe(1);
    } finally {
      await own.start();
    }
    expect(await choose()).toBe(2);
  });

  test('events are numbered by shard and account, in order, each with its delivery', async () => {
    const { partnerId } = await pay(1, 3);
    const { rows } = await shards[1]!.query<{ id: bigint }>(
      'SELECT id FROM events WHERE partner_id = $1 ORDER BY id',
      [uuidFromId(partnerId)],
    );
    expect(rows.map(({ id }) => id / 10n ** 15n)).toEqual([1n, 1n, 1n]);
    expect(rows.map(({ id }) => id - rows[0]!.id)).toEqual([0n, 1n, 2n]);
    const second = await pay(2, 1);
    const found = await all.query<{ id: bigint }>('SELECT id FROM events WHERE partner_id = $1', [
      uuidFromId(second.partnerId),
    ]);
    expect(found.rows.map(({ id }) => id / 10n ** 15n)).toEqual([2n]);
  });

  test('no two accounts share event numbers, and no two shards', async () => {
    await pay(1, 1);
    await pay(1, 1);
    const { rows } = await all.query('SELECT count(*)::int AS n, count(DISTINCT id)::int AS d FROM events');
    expect(rows[0].n).toBe(rows[0].d);
  });
});
