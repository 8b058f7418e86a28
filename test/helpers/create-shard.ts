import type { Clock } from '../../src/base/clock.ts';
import type { Pool } from '../../src/db/pool.ts';
import { createShard as create } from '../../src/db/shards/create.ts';

/** Makes the next shard, and returns its number. */
export async function createShard(pool: Pool, clock: Clock): Promise<number> {
  const result = await create({ pool, clock, actor: 'test' });
  if (result.outcome !== 'created') throw new Error(`no shard was made: ${result.outcome}`);
  return result.shard;
}
