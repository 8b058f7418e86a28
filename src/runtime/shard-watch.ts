import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import { listLiveProcesses } from '../db/live-processes.ts';
import type { Pool } from '../db/pool.ts';
import { listShards } from '../db/shards/layout.ts';
import { knownShards } from '../db/shards/sessions.ts';

interface ShardWatchDeps {
  pool: Pool;
  clock: Clock;
  /** The number of this process. */
  instance: number;
  leave(line: string): void;
}

const checkEveryMs = 1_000;
/** By then every other process has noticed the shard too, and has seen who runs. */
const noticedByAllMs = 1_500;
/** A process that has joined the database listens soon. */
const listensWithinMs = 2_000;
/** Others may have been stopped for good, so they are not waited for longer. */
const maxWaitMs = 30_000;

/**
 * A process knows the shards that there were when it opened the database. If there are more, it opens it again. Half of the
 * processes do so first, and the others when these are back: all the time some accept connections.
 */
export function startShardWatch({ pool, clock, instance, leave }: ShardWatchDeps): () => Promise<void> {
  let noticed: { atMs: number; running: number[] } | undefined;
  let firstAreBackAtMs: number | undefined;

  async function isOurTurn(): Promise<boolean> {
    // Not those that beat some seconds ago: they may have ended, and would be waited for.
    const connected = (await listLiveProcesses(pool))
      .filter(({ isConnected }) => isConnected)
      .map(process => process.instance);
    noticed ??= {
      atMs: clock.monotonicMs(),
      running: connected.toSorted((one, other) => one - other),
    };
    const { atMs, running } = noticed;
    const waitedMs = clock.monotonicMs() - atMs;
    if (running.length <= 1 || waitedMs > maxWaitMs) return true;
    const first = running.slice(0, Math.ceil(running.length / 2));
    if (first.includes(instance)) return waitedMs >= noticedByAllMs;
    if (connected.length < running.length || connected.some(one => first.includes(one))) return false;
    firstAreBackAtMs ??= clock.monotonicMs();
    return clock.monotonicMs() - firstAreBackAtMs >= listensWithinMs;
  }

  return startBackgroundLoop({
    clock,
    everyMs: checkEveryMs,
    work: async () => {
      const count = (await listShards(pool)).length;
      if (count === knownShards(pool)) return;
      if (await isOurTurn()) leave(`The database has ${count} shards now.`);
    },
    // The heartbeat notices a database that does not answer.
    onError: () => {},
  }).stop;
}
