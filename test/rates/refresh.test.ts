import { beforeEach, describe, expect, test } from 'vitest';
import { openPool, type Queryable, transaction } from '../../src/db/postgres/pool.ts';
import {
  explainRate,
  isStale,
  type RateSource,
  readCurrentRate,
  startRateRefresher,
} from '../../src/rates/index.ts';
import { claimRefresh, refreshRate } from '../../src/rates/refresh.ts';
import { manualClock } from '../helpers/clock.ts';
import { countWaiting } from '../helpers/locks.ts';
import { broken, startRatesWorld } from './rates-world.ts';

const { pool, clock, alarms, sourceOf, depsWith, countRates } = await startRatesWorld();

describe('a refresh', () => {
  test('stores the rate with everything that explains it', async () => {
    await refreshRate(depsWith(sourceOf('a', '92.5')));
    const stored = await refreshRate(depsWith(sourceOf('a', '92.5'), broken));
    const asOf = new Date(clock.nowMs());
    expect(stored).toEqual({ rateId: expect.any(BigInt), rateE4: 915_750n, midE4: 925_000n, asOf });
    expect(await readCurrentRate(pool)).toEqual(stored);
    expect(await explainRate(pool, stored!.rateId)).toEqual({
      ...stored,
      createdAt: new Date(clock.nowMs()),
      spreadBps: 100,
      parts: [
        { source: 'a', outcome: 'used', midE4: 925_000n, asOfMs: clock.nowMs() },
        { source: 'broken', outcome: 'failed', reason: 'not today' },
      ],
    });
    expect(alarms).toEqual([]);
  });

  test('makes its rate the current one, and leaves the one before as it was', async () => {
    const first = await refreshRate(depsWith(sourceOf('a', '80')));
    const second = await refreshRate(depsWith(sourceOf('a', '81')));
    expect(await readCurrentRate(pool)).toEqual(second);
    expect(await explainRate(pool, first!.rateId)).toMatchObject(first!);
    expect(await explainRate(pool, second!.rateId + 1n)).toBeUndefined();
  });

  test('asks all sources at the same time', async () => {
    const asked = Promise.withResolvers<void>();
    const [first, second] = [sourceOf('a', '92.5'), sourceOf('b', '92.5')];
    const waits = { ...first, fetch: (signal: AbortSignal) => asked.promise.then(() => first.fetch(signal)) };
    const asks: RateSource = {
      ...second,
      fetch: signal => {
        asked.resolve();
        return second.fetch(signal);
      },
    };
    expect(await refreshRate(depsWith(waits, asks))).toBeDefined();
  });

  test('that finds nothing stores nothing and raises an alarm; the last rate ages', async () => {
    expect(await refreshRate(depsWith(broken))).toBeUndefined();
    expect(await readCurrentRate(pool)).toBeUndefined();
    expect(alarms).toEqual([{ kind: 'rate_unavailable', detail: 'broken: not today' }]);

    const first = await refreshRate(depsWith(sourceOf('a', '92.5')));
    clock.advance(300_000);
    expect(await refreshRate(depsWith(broken))).toBeUndefined();
    expect(await readCurrentRate(pool)).toEqual(first);
    expect(isStale(first!, clock, 300)).toBe(false);
    clock.advance(1);
    expect(isStale(first!, clock, 300)).toBe(true);
  });

  test('rejects a jump from one source, however old the last rate', async () => {
    const first = await refreshRate(depsWith(sourceOf('a', '80')));
    clock.advance(86_400_000);
    expect(await refreshRate(depsWith(sourceOf('a', '92.5')))).toBeUndefined();
    expect(alarms.map(({ kind }) => kind)).toEqual(['rate_jump']);
    expect(await readCurrentRate(pool)).toEqual(first);
    expect(await refreshRate(depsWith(sourceOf('a', '92.5'), sourceOf('b', '92.4')))).toMatchObject({
      midE4: 924_500n,
    });
  });

  test('that is stopped stores nothing and raises no alarm', async () => {
    const stopping = new AbortController();
    const fetch = async () => {
      stopping.abort(new Error('stopping'));
      throw new Error('cut off');
    };
    const source: RateSource = { name: 'cut off', fetch };
    const refreshed = refreshRate(depsWith(source, sourceOf('a', '80')), stopping.signal);
    await expect(refreshed).rejects.toThrow('stopping');
    expect({ alarms, rates: await countRates() }).toEqual({ alarms: [], rates: 0n });
  });
});

describe('a stored rate', () => {
  test.each(['UPDATE', 'DELETE', 'TRUNCATE'])('is never changed: %s', async operation => {
    const sql = { UPDATE: 'UPDATE rates SET rate_e4 = 1', DELETE: 'DELETE FROM rates' }[operation];
    await refreshRate(depsWith(sourceOf('a', '92.5')));
    await expect(pool.query(sql ?? 'TRUNCATE rates')).rejects.toThrow(`${operation} of rates is refused`);
  });

  test('is the mid less the spread, or the database refuses it', async () => {
    const insert = (mid: number, spread: number, rate: number) =>
      pool.query(
        "INSERT INTO rates (as_of, created_at, mid_e4, spread_bps, rate_e4, parts) VALUES (now(), now(), $1, $2, $3, '[]')",
        [mid, spread, rate],
      );
    await insert(801_151, 100, 793_139);
    await expect(insert(801_151, 100, 793_140)).rejects.toThrow('rates_are_the_mid_less_the_spread');
    await expect(insert(0, 0, 0)).rejects.toThrow('check constraint');
    await expect(insert(100, 10_000, 0)).rejects.toThrow('check constraint');
  });
});

describe('a claim', () => {
  const claim = (db: Queryable = pool, refreshSec = 60) => claimRefresh(db, clock, refreshSec);

  test.each([
    ['once per period', 60_000, true],
    ['10 s after a process that died or failed, which leaves no rate', 10_000, false],
  ])('is given again %s', async (_when, ms, isRefreshed) => {
    expect(await claim()).toBe(true);
    if (isRefreshed) await refreshRate(depsWith(sourceOf('a', '80')));
    expect(await claim()).toBe(false);
    clock.advance(ms - 1);
    expect(await claim()).toBe(false);
    clock.advance(1);
    expect(await claim()).toBe(true);
  });

  test('is given to one of many processes at the same time', async () => {
    const others = Array.from({ length: 4 }, () => openPool({ ...pool.options }, 2));
    for (let round = 0; round < 5; round++) {
      const claims = await Promise.all([...others, ...others].map(other => claim(other)));
      expect(claims.filter(Boolean)).toHaveLength(1);
      clock.advance(60_000);
    }
    await Promise.all(others.map(other => other.end()));
  });

  test('that waited for another one is refused', async () => {
    let second: Promise<boolean> | undefined;
    await transaction(pool, async tx => {
      expect(await claim(tx)).toBe(true);
      second = claim();
      await expect.poll(() => countWaiting(pool)).toBeGreaterThan(0);
    });
    expect(await second).toBe(false);
  });

  test('does not block a period that was made shorter since', async () => {
    await claim(pool, 3_600);
    await refreshRate(depsWith(sourceOf('a', '80')));
    clock.advance(60_000);
    expect(await claim(pool, 3_600)).toBe(false);
    expect(await claim(pool, 60)).toBe(true);
  });

  test('by a clock that was far ahead is void', async () => {
    await claimRefresh(pool, manualClock('2026-11-15T12:00:00Z'), 60);
    await refreshRate({ ...depsWith(sourceOf('a', '80')), clock: manualClock('2026-11-15T12:00:00Z') });
    expect(await claim()).toBe(true);
    expect(await claim()).toBe(false);
  });
});

describe('the refresher', () => {
  const errors: unknown[] = [];
  const start = (sources: RateSource[], changes = {}) =>
    startRateRefresher({
      ...depsWith(...sources),
      refreshSec: 60,
      onError: error => void errors.push(error),
      ...changes,
    });
  /** Until a round is over, and after the pause until the next one is. */
  const paused = () => clock.asleep(10_000);
  const next = async () => {
    await clock.advance(10_000);
    await paused();
  };
  beforeEach(() => void errors.splice(0));

  test('fetches a rate at once and then once per period', async () => {
    const refresher = start([sourceOf('a', '80')]);
    await paused();
    expect(await countRates()).toBe(1n);
    for (let round = 0; round < 5; round++) await next();
    expect(await countRates()).toBe(1n);
    await next();
    expect(await countRates()).toBe(2n);
    await refresher.stop();
    expect(errors).toEqual([]);
  });

  test('tries again soon when it found nothing', async () => {
    let isUp = false;
    const source: RateSource = {
      name: 'late',
      fetch: signal => (isUp ? sourceOf('late', '80') : broken).fetch(signal),
    };
    const refresher = start([source]);
    await paused();
    expect(alarms.map(({ kind }) => kind)).toEqual(['rate_unavailable']);
    isUp = true;
    await next();
    expect(await countRates()).toBe(1n);
    await refresher.stop();
  });

  test('reports an exception and goes on', async () => {
    let isDown = true;
    const db: Queryable = {
      query: statement =>
        isDown ? Promise.reject(new Error('the database is away')) : pool.query(statement),
    };
    const refresher = start([sourceOf('a', '80')], { db });
    await paused();
    expect(errors).toEqual([new Error('the database is away')]);
    isDown = false;
    await next();
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
    const refresher = start([silent]);
    const signal = await asked.promise;
    await refresher.stop();
    expect(signal.aborted).toBe(true);
    expect({ errors, alarms, rates: await countRates() }).toEqual({ errors: [], alarms: [], rates: 0n });
  });
});
