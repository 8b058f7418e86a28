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
  const results: Result[] = [];
  for (let shard = 0; shard < knownShards(pool); shard++) results.push(await inShard(pool, shard, work));
  return results;
}

/** What could be read, in the order of the shards, and an error for each shard that is out of reach. */
export interface ReadInShards<Result> {
  results: Result[];
  failures: Error[];
}

/** For reads that must go on while a shard is out of reach. A view over all shards fails with any of them. */
export async function readInShards<Result>(
  pool: Pool,
  read: (db: Queryable) => Promise<Result>,
): Promise<ReadInShards<Result>> {
  const [results, failures]: [Result[], Error[]] = [[], []];
  const count = knownShards(pool);
  for (let shard = 0; shard < count; shard++)
    await (count === 1 ? read(pool) : inShard(pool, shard, read)).then(
      result => results.push(result),
      (error: Error) => failures.push(error),
    );
  return { results, failures };
}

function inShard<Result>(pool: Pool, shard: number, work: (tx: Queryable) => Promise<Result>) {
  return transaction(pool, async tx => {
    if (knownShards(pool) > 1) await enterShard(tx, shard);
    return work(tx);
  });
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
