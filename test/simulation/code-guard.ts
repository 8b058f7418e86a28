import type { Pool } from '../../src/db/pool.ts';
import { type CodeGuard, createCodeGuard } from '../../src/payments/shards/code-guard.ts';
import { createChainConnection } from './chain-connection.ts';
import type { Joined } from './joining.ts';
import type { World } from './world.ts';

/** What may happen to its process at any point. */
interface Failures {
  hang(): Promise<void>;
  die(): Promise<never>;
}

/** The real guard of QR codes of one process, which hangs or dies before or after a call of it. Undefined with one shard. */
export function createProcessGuard(
  world: World,
  { name, history, clock }: Joined,
  { hang, die }: Failures,
): CodeGuard | undefined {
  const { random } = world;
  const { database, ofShards } = history;
  if (ofShards.length === 1) return undefined;
  const connections = ofShards.map((_, shard): Pool => {
    const { connect } = createChainConnection(world, {
      ...{ random, processName: name, history },
      pool: () => history.ofShards[shard]!,
      afterCommit: database.changed,
    });
    return { connect, query: database.connectionOf(name, shard).query } as Pool;
  });
  const guard = createCodeGuard(connections, clock);

  async function mayFail(): Promise<void> {
    if (random.chance(world.faults.guardInterrupted)) await (random.chance(0.8) ? hang() : die());
  }
  const interrupted =
    <Argument, Result>(call: (argument: Argument) => Promise<Result>) =>
    async (argument: Argument) => {
      await mayFail();
      const result = await call(argument);
      await mayFail();
      return result;
    };
  return { ...guard, reserve: interrupted(guard.reserve), free: interrupted(guard.free) };
}
