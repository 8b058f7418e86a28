import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { type Pool, type Queryable, transaction } from '../../src/db/pool.ts';
import { takeNotices } from '../../src/db/shards/notices.ts';
import { enterShardOf, inEachShard } from '../../src/db/shards/sessions.ts';
import type { Shards } from '../../src/db/shards/shards.ts';
import type { Shard } from '../../src/payments/shards/open-shards.ts';
import { type Delivery, type DeliveryDeps, startDelivery } from '../../src/webhooks/delivery/worker.ts';

/*
 * For tests that also run with several shards: sessions of all shards read every partner and cannot write, so what a test writes past
 * the service goes through a shard. With one shard all of this is the plain database.
 */

/** Over so many shards are the partners of a test spread. */
export const shardCount = Number(process.env.KOPECK_TEST_SHARDS ?? 1);

/** One transaction in the partner's shard. */
export const inShardOf = <Result>(
  pool: Pool,
  partnerId: Id<'prt'>,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> =>
  transaction(pool, async tx => {
    await enterShardOf(tx, uuidFromId(partnerId));
    return work(tx);
  });

/** The statement in every shard, each in a transaction of its own. Returns the rows of all. */
export const writeInShards = async (pool: Pool, text: string, values: unknown[] = []) =>
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the columns of its statement.
  (await inEachShard(pool, tx => tx.query<any>({ text, values }))).flatMap(({ rows }) => rows);

/** The number of the partner's shard. */
export async function shardOf(pool: Pool, partnerId: Id<'prt'>): Promise<number> {
  const { rows } = await pool.query<{ shard: number }>('SELECT shard FROM partners WHERE id = $1', [
    uuidFromId(partnerId),
  ]);
  return rows[0]!.shard;
}

/** What a process has for all shards, and for one of them. */
type Parts = { shards: Shards<Shard> };

/** The same parts for each shard, as a worker has them. What the test has replaced stays, but for what belongs to a shard. */
export function inShards<Deps extends Parts>(deps: Deps): Deps[] {
  return deps.shards.all().map((shard, index) => {
    if (index === 0) return deps;
    const { number, pool, db, node, reads, readPool, signals } = shard;
    const { writer, quoteLocker, leaseRelease, outcomeWaiters, paymentTraces } = shard;
    return {
      ...deps,
      ...{ number, pool, db, node, reads, readPool, signals },
      ...{ writer, quoteLocker, leaseRelease, outcomeWaiters, paymentTraces },
    };
  });
}

/** Shards on Citus keep notices and alarms for up to two seconds before they are taken to where these stand. */
export const takeAllNotices = ({ pool, shards }: Parts & { pool: Pool }) =>
  Promise.all(shards.all().map(({ worker, number }) => worker && takeNotices(pool, worker.pool, number)));

/** The delivery of webhooks in every shard, as a worker runs it. `change` replaces parts of a shard. */
export function startDeliveries<Deps extends DeliveryDeps & Parts>(
  deps: Deps,
  change: (parts: Deps) => Partial<DeliveryDeps> = () => ({}),
): Delivery {
  const all = inShards(deps).map(parts => startDelivery({ ...parts, ...change(parts) }));
  return {
    runNow: () => {
      for (const { runNow } of all) runNow();
    },
    stop: async () => void (await Promise.all(all.map(({ stop }) => stop()))),
  };
}
