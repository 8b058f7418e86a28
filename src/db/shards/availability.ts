import { setTimeout as sleep } from 'node:timers/promises';
import { startBackgroundLoop } from '../../base/background-loop.ts';
import type { Clock } from '../../base/clock.ts';
import { NotAnsweringError } from '../database-errors.ts';
import { type Pool, type Statement, sqlStateOf } from '../pool.ts';
import { schemaOf } from './layout.ts';

/** Which shards of the database can be used. With one shard that is for the heartbeat to say. */
export interface ShardAvailability {
  /** Why not; undefined: it can be used. */
  whyNot(shard: number): string | undefined;
  stop(): Promise<void>;
}

export interface AvailabilityOptions {
  clock: Clock;
  isDatabaseAnswering(): boolean;
  /** After the first look at a shard, after each change, and every minute while it cannot be used. */
  onShardState?(shard: number, whyNot: string | undefined): void;
}

const lookEveryMs = 1_000;
const answerWithinMs = 1_500;
/** So many looks in a row: one can fail because the server is busy. */
const maxFailures = 2;
const repeatEvery = 60;

/** What a payment reads and writes in its shard, and in that of its code. */
const needed = [
  'accounts',
  'payments',
  'open_payments',
  'entries',
  'events',
  'code_reservations',
  'void_openings',
];

/** With the schema: without it, a name that is missing in the shard would lead to shard 0. */
const lookInto = (shard: number): Statement => ({
  name: 'look into the shard',
  text: `SELECT ${needed.map(table => `(SELECT 1 FROM ${schemaOf(shard)}.${table} LIMIT 1)`).join(', ')}`,
  query_timeout: answerWithinMs,
});

/** Looks into each shard every second, in its own sessions, by their number. */
export function watchShards(pools: Pool[], options: AvailabilityOptions): ShardAvailability {
  if (pools.length === 1) return { whyNot: () => undefined, stop: async () => {} };
  const { clock, isDatabaseAnswering, onShardState = () => {} } = options;
  const states = pools.map(() => ({
    failures: 0,
    whyNot: undefined as string | undefined,
    wasSeen: false,
  }));

  async function look(shard: number, pool: Pool): Promise<void> {
    // The heartbeat has noticed it, and nothing is known about this shard.
    if (!isDatabaseAnswering()) return;
    const state = states[shard]!;
    const looking = pool.query(lookInto(shard));
    // At the start the session has to be opened first, which may take longer.
    const failure = await failureOf(looking, state.wasSeen ? answerWithinMs : undefined);
    if (failure === undefined) state.wasSeen = true;
    const wasUsable = state.whyNot === undefined;
    state.failures = failure === undefined ? 0 : state.failures + 1;
    if (failure === undefined) state.whyNot = undefined;
    else if (state.failures >= maxFailures || failure instanceof NotAnsweringError)
      state.whyNot = failure.message;
    const isUsable = state.whyNot === undefined;
    if (wasUsable !== isUsable || (!isUsable && state.failures % repeatEvery === 0))
      onShardState(shard, state.whyNot);
  }

  const loops = pools.map((pool, shard) => {
    let isFirst = true;
    return startBackgroundLoop({
      clock,
      everyMs: lookEveryMs,
      work: async () => {
        await look(shard, pool);
        // An alarm of an earlier process may be open.
        if (isFirst && states[shard]!.failures === 0) onShardState(shard, undefined);
        isFirst = false;
      },
      onError: () => {},
    });
  });
  return {
    whyNot: shard => states[shard]?.whyNot,
    stop: async () => void (await Promise.all(loops.map(({ stop }) => stop()))),
  };
}

/** Also a look that waits for a session fails in time: with a server that hangs, all of them are in use. */
async function failureOf(
  looking: Promise<unknown>,
  withinMs: number | undefined,
): Promise<Error | undefined> {
  const failure = looking.then(
    () => undefined,
    (error: Error) => error,
  );
  if (withinMs === undefined) return failure;
  const seen = new AbortController();
  // By the same clock as the limits of the driver.
  const late = sleep(withinMs, new Error('it does not answer'), { signal: seen.signal });
  return Promise.race([failure, late]).finally(() => {
    late.catch(() => {});
    seen.abort();
  });
}

export const unusableShard = (shard: number, whyNot: string) =>
  new NotAnsweringError(`shard ${shard} cannot be used: ${whyNot}`);

/** Not for a moment, as with a lock: trying again would give the same. */
class ShardOutOfReach extends NotAnsweringError {}

/** No such schema or table, no right to it, or its files cannot be read (58, XX001, XX002). */
const outOfReach = /^(3F000|42P01|42501|58|XX00[12])/;

/**
 * With several shards: if the tables of one are out of reach, its statements fail like those of a database that does not answer, and
 * requests get 503. With one shard such an error is a fault of the installation, and is shown as it is.
 */
export function reportsUnreachable(pool: Pool): Pool {
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<unknown>;
  pool.query = (async (...args: unknown[]) => {
    try {
      return await query(...args);
    } catch (error) {
      if (outOfReach.test(sqlStateOf(error) ?? '')) throw new ShardOutOfReach((error as Error).message);
      throw error;
    }
  }) as typeof pool.query;
  return pool;
}
