import { type Pool, type Queryable, transaction } from '../pool.ts';
import { pathOf, schemaOf, schemaOfAll } from './layout.ts';

/** What the sessions of a shard are set to. `kopeck.shards` says how many shards their process knows. */
export const sessionOf = (shard: number, shards: number) => ({
  search_path: pathOf(schemaOf(shard)),
  'kopeck.shards': String(shards),
});

/** For reads that span shards: the views of this schema cannot be written to. */
export const sessionOfAll = (shards: number) => ({
  search_path: pathOf(schemaOfAll),
  'kopeck.shards': String(shards),
});

/** How many shards the process of this pool knows. With one, its sessions are set to nothing. */
export const knownShards = ({ options }: Pool): number => Number(options.session?.['kopeck.shards'] ?? 1);

/** From here on the transaction is one of this shard. */
export const enterShard = (tx: Queryable, shard: number) =>
  tx.query({ text: `SET LOCAL search_path = ${pathOf(schemaOf(shard))}` });

/** One transaction for each shard that the process of the pool knows, one after the other. */
export async function inEachShard<Result>(
  pool: Pool,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result[]> {
  const count = knownShards(pool);
  const results: Result[] = [];
  for (let shard = 0; shard < count; shard++)
    results.push(
      await transaction(pool, async tx => {
        if (count > 1) await enterShard(tx, shard);
        return work(tx);
      }),
    );
  return results;
}

/**
 * From here on the transaction is one of the partner's shard: what it writes to tables of partners goes there. Tables that
 * stand once, such as the audit log, are found as before.
 */
export async function enterShardOf(tx: Queryable, partnerUuid: string): Promise<void> {
  const { rows } = await tx.query<{ shard: number }>({
    text: 'SELECT shard FROM partners WHERE id = $1',
    values: [partnerUuid],
  });
  // Without such a partner the caller finds no account either, and says so.
  await enterShard(tx, rows[0]?.shard ?? 0);
}
