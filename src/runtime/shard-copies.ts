import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import type { Pool } from '../db/pool.ts';
import { refreshCopies } from '../db/shards/copies.ts';
import type { NodePool } from '../db/shards/nodes.ts';
import { takeNotices } from '../db/shards/notices.ts';
import type { Shards } from '../db/shards/shards.ts';

interface ShardCopiesDeps {
  /** On the coordinator. */
  pool: Pool;
  clock: Clock;
  log: { error(details: object, message: string): void; info(details: object, message: string): void };
  shards: Shards<{ number: number; worker: NodePool | undefined }>;
}

/** The copies of a shard may be ten seconds old: four rounds may fail. */
const everyMs = 2_000;

/**
 * Brings the shards on Citus the copies of what stands once, takes their notices to where these stand, and follows a shard that
 * moves. A loop for each shard: one whose node is down holds up no other.
 */
export function startShardCopies({ pool, clock, log, shards }: ShardCopiesDeps): () => Promise<void> {
  const loops = shards.all().flatMap(({ number: shard, worker }) => {
    if (!worker) return [];
    let isFailing = false;
    const loop = startBackgroundLoop({
      clock,
      everyMs,
      work: async () => {
        await worker.follow();
        await refreshCopies(pool, worker.pool, shard);
        await takeNotices(pool, worker.pool, shard);
        if (isFailing) log.info({ shard }, 'the shard has current copies again');
        isFailing = false;
      },
      onError: err => {
        if (!isFailing)
          log.error({ err, shard }, 'the shard gets no copies: it opens payments for 10 s more');
        isFailing = true;
      },
    });
    return [loop];
  });
  return async () => void (await Promise.all(loops.map(({ stop }) => stop())));
}
