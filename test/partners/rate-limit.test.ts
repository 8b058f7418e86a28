import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { nextLoopTurn } from '../../src/db/batching/batch.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { createRateLimiter } from '../../src/partners/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase, createPartnerWithKeys } from '../helpers/database.ts';
import { countWaiting, follow, holdLocks } from '../helpers/locks.ts';
import { createRandom, type Random } from '../helpers/random.ts';

const { pool, url } = await createDatabase();
const { partnerId } = await createPartnerWithKeys(pool);

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await nextLoopTurn();
};

/** Statements that are sent late, and whose answers arrive late, by a drawn number of turns of the event loop. */
const delayed = (random: Random): Queryable => ({
  query: async statement => {
    await turns(random.between(0, 6));
    const answer = await pool.query(statement);
    await turns(random.between(0, 6));
    return answer as never;
  },
});

interface Plan {
  seed: number;
  processes: number;
  perSecond: number;
  burst: number;
  requests: number;
}

/** A service of several processes with one full bucket, on a clock that stands. */
async function startProcesses({ seed, processes, perSecond, burst }: Plan) {
  await pool.query('DELETE FROM rate_buckets');
  const random = createRandom(seed);
  const clock = manualClock();
  const limiters = Array.from({ length: processes }, () => createRateLimiter(delayed(random), clock));
  const limits = { createRps: perSecond, createBurst: burst, otherRps: 1, concurrent: 1 };
  const caller = { partnerId, mode: 'test' as const, limits: limits as never };
  /** Requests that arrive at drawn times at drawn processes; how many passed. */
  const passed = async (requests: number) => {
    const answers = Array.from({ length: requests }, async () => {
      await turns(random.between(0, 12));
      return random.pick(limiters).take(caller, 'create');
    });
    return (await Promise.all(answers)).filter(retryAfterSec => retryAfterSec === undefined).length;
  };
  return { clock, passed };
}

const plan = fc.record({
  seed: fc.nat(),
  processes: fc.integer({ min: 1, max: 4 }),
  perSecond: fc.constantFrom(1, 3, 20, 250, 1_000, 5_000),
  burst: fc.integer({ min: 1, max: 15 }),
  requests: fc.integer({ min: 1, max: 40 }),
});

test('a burst gets exactly the tokens of its bucket, with any number of processes', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async drawn => {
      const { clock, passed } = await startProcesses(drawn);
      const { burst, perSecond, requests } = drawn;
      const first = await passed(requests);
      expect(first).toBe(Math.min(requests, burst));
      clock.advance(1_000);
      expect(await passed(requests)).toBe(Math.min(requests, burst, burst - first + perSecond));
    }),
    { numRuns: 150 },
  );
});

test('under a high limit, requests that arrive one by one share a round trip', async () => {
  let statements = 0;
  const counted: Queryable = {
    query: statement => {
      statements += 1;
      return pool.query(statement) as never;
    },
  };
  let endPause = () => {};
  const sleep = () => new Promise<void>(resolve => (endPause = resolve));
  const limiter = createRateLimiter(counted, { ...manualClock(), sleep });
  const limits = { createRps: 1_000, createBurst: 1_000, otherRps: 1, concurrent: 1 };
  const caller = { partnerId, mode: 'live', limits: limits as never } as const;
  // The first request of all finds no bucket, and adds it.
  await createRateLimiter(pool, manualClock()).take(caller, 'create');
  const take = () => limiter.take(caller, 'create');
  expect(await take()).toBeUndefined();
  expect(statements).toBe(1);
  const answers: Promise<number | undefined>[] = [];
  for (let request = 0; request < 50; request++) {
    answers.push(take());
    await turns(2);
  }
  expect(statements).toBe(1);
  endPause();
  expect(new Set(await Promise.all(answers))).toEqual(new Set([undefined]));
  expect(statements).toBe(2);
  endPause();
});

test('processes that wait for the same bucket share its tokens', async () => {
  const clock = manualClock();
  const limits = { createRps: 1, createBurst: 1, otherRps: 1, concurrent: 1 } as never;
  const caller = { ...(await createPartnerWithKeys(pool)), mode: 'live' as const, limits };
  const take = () => createRateLimiter(pool, clock).take(caller, 'create');
  expect(await take()).toBeUndefined();
  await clock.advance(1_000);
  const { unlock } = await holdLocks(url, 'SELECT FROM rate_buckets WHERE partner_id = $1 FOR UPDATE', [
    uuidFromId(caller.partnerId),
  ]);
  const answers = [take(), take()];
  await expect.poll(() => countWaiting(pool), { interval: 5, timeout: 60_000 }).toBe(2);
  await unlock();
  expect((await Promise.all(answers)).sort()).toEqual([1, undefined]);
});

test('a locked bucket holds up no request of others', async () => {
  const other = (await createPartnerWithKeys(pool)).partnerId;
  const limiter = createRateLimiter(pool, manualClock());
  const limits = { createRps: 10, createBurst: 10, otherRps: 1, concurrent: 1 } as never;
  const take = (id: typeof partnerId) => limiter.take({ partnerId: id, mode: 'live', limits }, 'create');
  await Promise.all([take(partnerId), take(other)]);
  const { unlock } = await holdLocks(url, 'SELECT FROM rate_buckets WHERE partner_id = $1 FOR UPDATE', [
    uuidFromId(partnerId),
  ]);
  const taken = follow(take(partnerId));
  expect(await take(other)).toBeUndefined();
  expect(await take(other)).toBeUndefined();
  expect(taken.hasEnded).toBe(false);
  await unlock();
  expect(await taken.result).toBeUndefined();
});
