import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import type { Queryable } from '../../src/db/pool.ts';
import { type RateSource, startRateRefresher } from '../../src/rates/index.ts';
import { broken, startRatesWorld } from './rates-world.ts';

const { pool, clock, alarms, sourceOf, depsWith, countRates } = await startRatesWorld();

/** The pauses of a refresher, ended by hand. */
function manualPauses() {
  let end: (() => void) | undefined;
  const pausesMs: number[] = [];
  const sleep: Clock['sleep'] = (ms, signal) =>
    new Promise<void>(resolve => {
      pausesMs.push(ms);
      end = resolve;
      if (signal?.aborted) resolve();
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  const untilPaused = () => vi.waitUntil(() => end !== undefined, { interval: 2 });
  return {
    sleep,
    pausesMs,
    untilPaused,
    /** Moves the clock by the pause and lets the refresher do one round. */
    next: async () => {
      await untilPaused();
      clock.advance(pausesMs.at(-1)!);
      const endPause = end!;
      end = undefined;
      endPause();
      await untilPaused();
    },
  };
}

describe('the refresher', () => {
  const errors: unknown[] = [];
  const start = (sources: RateSource[], sleep: Clock['sleep'], changes = {}) =>
    startRateRefresher({
      ...depsWith(...sources),
      clock: { ...clock, sleep },
      refreshSec: 60,
      onError: error => void errors.push(error),
      ...changes,
    });
  beforeEach(() => void errors.splice(0));

  test('fetches a rate at once and then once per period', async () => {
    const { sleep, untilPaused, next, pausesMs } = manualPauses();
    const refresher = start([sourceOf('a', '80')], sleep);
    await untilPaused();
    expect(await countRates()).toBe(1n);
    for (let round = 0; round < 5; round++) await next();
    expect(await countRates()).toBe(1n);
    await next();
    expect(await countRates()).toBe(2n);
    expect(new Set(pausesMs)).toEqual(new Set([10_000]));
    await refresher.stop();
    expect(errors).toEqual([]);
  });

  test('refreshes in one process only (leader election)', async () => {
    const [one, other] = [manualPauses(), manualPauses()];
    const refreshers = [start([sourceOf('a', '80')], one.sleep), start([sourceOf('a', '80')], other.sleep)];
    await Promise.all([one.untilPaused(), other.untilPaused()]);
    expect(await countRates()).toBe(1n);
    await Promise.all(refreshers.map(refresher => refresher.stop()));
  });

  test('tries again soon when it found nothing', async () => {
    const { sleep, untilPaused, next } = manualPauses();
    let isUp = false;
    const source: RateSource = {
      name: 'late',
      fetch: signal => (isUp ? sourceOf('late', '80') : broken).fetch(signal),
    };
    const refresher = start([source], sleep);
    await untilPaused();
    expect(alarms.map(({ kind }) => kind)).toEqual(['rate_unavailable']);
    isUp = true;
    await next();
    expect(await countRates()).toBe(1n);
    await refresher.stop();
  });

  test('reports an exception and goes on', async () => {
    const { sleep, untilPaused, next } = manualPauses();
    let isDown = true;
    const db: Queryable = {
      query: statement =>
        isDown ? Promise.reject(new Error('the database is away')) : pool.query(statement),
    };
    const refresher = start([sourceOf('a', '80')], sleep, { db });
    await untilPaused();
    expect(errors).toEqual([new Error('the database is away')]);
    isDown = false;
    await next();
    expect(await countRates()).toBe(1n);
    await refresher.stop();
  });

  test('never overlaps itself: the pause begins when the refresh is over', async () => {
    const { sleep, untilPaused, pausesMs } = manualPauses();
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: RateSource = {
      name: 'slow',
      fetch: async () => {
        asked.resolve();
        await answered.promise;
        return { midE4: 800_000n, asOfMs: clock.nowMs() };
      },
    };
    const refresher = start([slow], sleep);
    await asked.promise;
    expect(pausesMs).toEqual([]);
    answered.resolve();
    await untilPaused();
    expect(await countRates()).toBe(1n);
    await refresher.stop();
  });

  test('stops in the middle of a call without an error', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const silent: RateSource = {
      name: 'silent',
      fetch: signal => {
        asked.resolve(signal);
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      },
    };
    const refresher = start([silent], manualPauses().sleep);
    const signal = await asked.promise;
    await refresher.stop();
    expect(signal.aborted).toBe(true);
    expect({ errors, alarms, rates: await countRates() }).toEqual({ errors: [], alarms: [], rates: 0n });
  });

  test('stops in the middle of a real pause', async () => {
    const refresher = startRateRefresher({
      ...depsWith(sourceOf('a', '80')),
      refreshSec: 60,
      onError: error => void errors.push(error),
    });
    await vi.waitUntil(async () => (await countRates()) === 1n, { interval: 5 });
    await refresher.stop();
    expect(errors).toEqual([]);
  });
});
