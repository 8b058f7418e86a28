import { describe, expect, test } from 'vitest';
import { dumpSchema } from '../../database/dump.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { shardRelations } from '../../src/db/shards/layout.ts';
import { findPayment } from '../../src/payments/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { startShardsWorld } from './shards-world.ts';

const { pool, shards, all, clock, newPartner, newProcess, opening } = await startShardsWorld(4);

/** The trigger that does nothing any more is not made in new shards. */
const withoutOld = (text: string) => text.replace(/CREATE TRIGGER events_are_delivered [^\n]*\n/, '');

describe('a new shard', () => {
  test('has the tables, keys, indexes, triggers and views of shard 0', async () => {
    const partOf = (dump: string) =>
      dump
        .split('\n\n')
        .filter(block =>
          shardRelations.includes(/^CREATE (?:UNLOGGED )?(?:TABLE|VIEW) (\w+)/.exec(block)?.[1] ?? ''),
        );
    const first = partOf(withoutOld(await dumpSchema(shards[0]!)));
    expect(first).toHaveLength(shardRelations.length);
    expect(partOf(await dumpSchema(shards[2]!))).toEqual(first);
  });

  test('has every function of its own: one with the rights of the owner stays in its schema', async () => {
    const { rows } = await pool.query(
      `SELECT n.nspname AS schema, count(*)::int AS functions,
              array_agg(DISTINCT s) FILTER (WHERE s LIKE 'search_path%') AS paths
         FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
         LEFT JOIN LATERAL unnest(p.proconfig) AS s ON true
        WHERE n.nspname IN ('public', 'shard_1', 'every_shard') GROUP BY 1 ORDER BY 1`,
    );
    expect(rows.map(({ schema, paths }) => [schema, paths])).toEqual([
      ['every_shard', ['search_path=every_shard, public, pg_temp']],
      ['public', ['search_path=public, pg_temp']],
      ['shard_1', ['search_path=shard_1, public, pg_temp']],
    ]);
    expect(new Set(rows.map(({ functions }) => functions)).size).toBe(1);
  });

  test('numbers its events apart from the others', async () => {
    const ids: bigint[] = [];
    for (const shard of [0, 1, 2]) {
      const partnerId = await newPartner(shard);
      const payment = opening(partnerId);
      const { writers } = newProcess();
      await writers[shard]!.open(payment);
      const { paymentId } = payment;
      await writers[shard]!.finish({ partnerId, mode: 'live', paymentId, outcome: 'succeeded' });
      const { rows } = await shards[shard]!.query('SELECT id FROM events WHERE payment_id = $1', [
        uuidFromId(paymentId),
      ]);
      ids.push(rows[0].id);
    }
    expect(ids.map(id => id / 10n ** 15n)).toEqual([0n, 1n, 2n]);
  });
});

describe('sessions of all shards', () => {
  test('see the payments of every shard', async () => {
    const { writers } = newProcess();
    for (const [shard] of shards.entries()) {
      const partnerId = await newPartner(shard);
      const payment = opening(partnerId);
      await writers[shard]!.open(payment);
      const account = { partnerId, mode: 'live' } as const;
      expect(await findPayment(all, account, payment.paymentId)).toMatchObject({ partnerId });
      expect(await findPayment(shards[(shard + 1) % 4]!, account, payment.paymentId)).toBeUndefined();
    }
  });

  test('cannot write to tables of partners', async () => {
    const partnerId = await newPartner(0);
    await expect(createPaymentWriter(all, clock).open(opening(partnerId))).rejects.toThrow(
      /cannot insert into view/,
    );
    await expect(all.query('UPDATE accounts SET held = 0')).rejects.toThrow(/cannot update view/);
    await expect(all.query('DELETE FROM payments')).rejects.toThrow(/cannot delete from view/);
  });
});
