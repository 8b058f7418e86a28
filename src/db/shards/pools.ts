import { openPool, type Pool } from '../pool.ts';
import { reportsUnreachable } from './availability.ts';
import { type NodePool, openNodePool } from './nodes.ts';
import { knownShards, sessionOf } from './sessions.ts';

/** Two more than may wait for locked accounts: see src/payments/store.ts. */
const connectionsPerShard = 6;

/** The sessions of every shard, by its number. */
interface ShardPools {
  /** Everything that stands once is found here too. For a shard on Citus these sessions are on the coordinator. */
  pools: Pool[];
  /** Where the functions of the shard run. For a shard on Citus these sessions are on its worker; otherwise the same as above. */
  nodes: Pool[];
  /** Those on workers, by the number of their shard. */
  workers: Map<number, NodePool>;
  close(): Promise<void>;
}

/** With one shard, the sessions are those of the pool. They end with `close`. */
export function openShardPools(pool: Pool): ShardPools {
  const count = knownShards(pool);
  if (count === 1) return { pools: [pool], nodes: [pool], workers: new Map(), close: async () => {} };
  const pools = Array.from({ length: count }, (_, shard) =>
    reportsUnreachable(openPool({ ...pool.options, session: sessionOf(shard, count) }, connectionsPerShard)),
  );
  const workers = new Map(
    pool.options.distributed?.map(shard => [shard, openNodePool(pool, shard, connectionsPerShard)]),
  );
  return {
    pools,
    nodes: pools.map((one, shard) => workers.get(shard)?.pool ?? one),
    workers,
    close: async () => {
      await Promise.all([...pools, ...Array.from(workers.values(), node => node.pool)].map(one => one.end()));
    },
  };
}

/** Works in the sessions of each shard, one after the other. */
export async function withShards(pool: Pool, work: (shard: Pool) => Promise<void>): Promise<void> {
  const { pools, close } = openShardPools(pool);
  try {
    for (const shard of pools) await work(shard);
  } finally {
    await close();
  }
}
