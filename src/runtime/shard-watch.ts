import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import type { Pool } from '../db/pool.ts';
import { listShards } from '../db/shards/layout.ts';
import { knownShards } from '../db/shards/sessions.ts';

interface ShardWatchDeps {
  pool: Pool;
  clock: Clock;
  leave(line: string): void;
}

const checkEveryMs = 2_000;

/** A process knows the shards that there were when it opened the database. If there are more, it opens it again. */
export function startShardWatch({ pool, clock, leave }: ShardWatchDeps): () => Promise<void> {
  return startBackgroundLoop({
    clock,
    everyMs: checkEveryMs,
    work: async () => {
      const count = (await listShards(pool)).length;
      if (count !== knownShards(pool)) leave(`The database has ${count} shards now.`);
    },
    // The heartbeat notices a database that does not answer.
    onError: () => {},
  }).stop;
}
