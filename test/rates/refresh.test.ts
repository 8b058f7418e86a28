import { beforeEach, describe, expect, test, vi } from 'vitest';
import { parseRate } from '../../src/base/money.ts';
import { openPool, type Queryable, transaction } from '../../src/db/pool.ts';
import {
  type Alarm,
  claimRefresh,
  explainRate,
  isStale,
  type RateSource,
  readCurrentRate,
  refreshRate,
  startRateRefresher,
} from '../../src/rates/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
let clock = manualClock();
let alarms: Alarm[] = [];

beforeEach(async () => {
  clock = manualClock();
  alarms = [];
  await pool.query(`
    SET session_replication_role = replica; TRUNCATE rates; SET session_replication_role = DEFAULT;
    UPDATE rate_refresh SET claimed_at = '-infinity'`);
});

const sourceOf = (name: string, rate: string): RateSource => ({
  name,
  fetch: async () => ({ midE4: parseRate(rate)!, asOfMs: clock.nowMs() }),
});
const broken: RateSource = { name: 'broken', fetch: () => Promise.reject(new Error('not today')) };

const depsWith = (...sources: RateSource[]) => ({
  db: pool as Queryable,
  clock,
  sources,
  spreadBps: 100,
  maxAgeSec: 300,
  reportAlarms: (raised: Alarm[]) => void alarms.push(...raised),
});

const countRates = async () => (await pool.query('SELECT count(*) FROM rates')).rows[0].count;

describe('a refresh', () => {
  test('stores the rate with all that explains it', async () => {
    const stored = await refreshRate(depsWith(sourceOf('a', '92.5'), broken));
    expect(stored).toEqual({
      rateId: expect.any(BigInt),
      rateE4: 915_750n,
      midE4: 925_000n,
      asOf: new Date(clock.nowMs()),
    });
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
    const asked: string[] = [];
    let answer = () => {};
    const allAsked = new Promise<void>(resolve => {
      answer = resolve;
    });
    const waiting = (name: string): RateSource => ({
      name,
      fetch: async () => {
        if (asked.push(name) === 2) answer();
        await allAsked;
        return { midE4: 925_000n, asOfMs: clock.nowMs() };
      },
    });
    await refreshRate(depsWith(waiting('a'), waiting('b')));
    expect(asked).toEqual(['a', 'b']);
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

  test('does not take a leap from one source, however old the last rate', async () => {
    const first = await refreshRate(depsWith(sourceOf('a', '80')));
    clock.advance(86_400_000);
    expect(await refreshRate(depsWith(sourceOf('a', '92.5')))).toBeUndefined();
    expect(alarms.map(({ kind }) => kind)).toEqual(['rate_jump']);
    expect(await readCurrentRate(pool)).toEqual(first);
    expect(await refreshRate(depsWith(sourceOf('a', '92.5'), sourceOf('b', '92.4')))).toMatchObject({
      midE4: 924_500n,
    });
  });

  test('that is stopped stores nothing and blames nobody', async () => {
    const stopping = new AbortController();
    const source: RateSource = {
      name: 'cut off',
      fetch: async () => {
        stopping.abort(new Error('stopping'));
        throw new Error('cut off');
      },
    };
    const refreshed = refreshRate(depsWith(source, sourceOf('a', '80')), stopping.signal);
    await expect(refreshed).rejects.toThrow('stopping');
    expect({ alarms, rates: await countRates() }).toEqual({ alarms: [], rates: 0n });
  });
});

describe('a stored rate', () => {
  test.each([
    ['UPDATE', 'UPDATE rates SET rate_e4 = 1'],
    ['DELETE', 'DELETE FROM rates'],
    ['TRUNCATE', 'TRUNCATE rates'],
  ])('is never changed: %s', async (operation, sql) => {
    await refreshRate(depsWith(sourceOf('a', '92.5')));
    await expect(pool.query(sql)).rejects.toThrow(`${operation} of rates is refused`);
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

  test('is given once per period', async () => {
    expect(await claim()).toBe(true);
    await refreshRate(depsWith(sourceOf('a', '80')));
    expect(await claim()).toBe(false);
    clock.advance(59_999);
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

  test('that waited for another sees that it came too late', async () => {
    let second: Promise<boolean> | undefined;
    await transaction(pool, async tx => {
      expect(await claim(tx)).toBe(true);
      second = claim();
      await vi.waitUntil(async () => {
        const { rows } = await pool.query(
          `SELECT count(*) AS waiting FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows[0].waiting > 0n;
      });
    });
    expect(await second).toBe(false);
  });

  test('of a process that died or failed does not keep the service without a rate', async () => {
    expect(await claim()).toBe(true);
    expect(await claim()).toBe(false);
    clock.advance(9_999);
    expect(await claim()).toBe(false);
    clock.advance(1);
    expect(await claim()).toBe(true);
  });

  test('of a period that has been made shorter since does not hold it up', async () => {
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

/** The pauses of a refresher, ended by hand. */
function manualPauses() {
  let end: (() => void) | undefined;
  const pausesMs: number[] = [];
  const wait = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      pausesMs.push(ms);
      end = resolve;
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  const untilPaused = () => vi.waitUntil(() => end !== undefined, { interval: 2 });
  return {
    wait,
    pausesMs,
    untilPaused,
    /** Lets the clock run for the pause, the refresher for a round. */
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
  const start = (sources: RateSource[], wait: ReturnType<typeof manualPauses>['wait'], changes = {}) =>
    startRateRefresher({
      ...depsWith(...sources),
      refreshSec: 60,
      onError: error => void errors.push(error),
      wait,
      ...changes,
    });
  beforeEach(() => void errors.splice(0));

  test('fetches a rate at once and then once per period', async () => {
    const { wait, untilPaused, next, pausesMs } = manualPauses();
    const refresher = start([sourceOf('a', '80')], wait);
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

  test('shares the work with the others', async () => {
    const [one, other] = [manualPauses(), manualPauses()];
    const refreshers = [start([sourceOf('a', '80')], one.wait), start([sourceOf('a', '80')], other.wait)];
    await Promise.all([one.untilPaused(), other.untilPaused()]);
    expect(await countRates()).toBe(1n);
    await Promise.all(refreshers.map(refresher => refresher.stop()));
  });

  test('tries again soon when it found nothing', async () => {
    const { wait, untilPaused, next } = manualPauses();
    let isUp = false;
    const source: RateSource = {
      name: 'late',
      fetch: signal => (isUp ? sourceOf('late', '80') : broken).fetch(signal),
    };
    const refresher = start([source], wait);
    await untilPaused();
    expect(alarms.map(({ kind }) => kind)).toEqual(['rate_unavailable']);
    isUp = true;
    await next();
    expect(await countRates()).toBe(1n);
    await refresher.stop();
  });

  test('reports an exception and goes on', async () => {
    const { wait, untilPaused, next } = manualPauses();
    let isDown = true;
    const db: Queryable = {
      query: statement =>
        isDown ? Promise.reject(new Error('the database is away')) : pool.query(statement),
    };
    const refresher = start([sourceOf('a', '80')], wait, { db });
    await untilPaused();
    expect(errors).toEqual([new Error('the database is away')]);
    isDown = false;
    await next();
    expect(await countRates()).toBe(1n);
    await refresher.stop();
  });

  test('never overlaps itself: the pause begins when the refresh is over', async () => {
    const { wait, untilPaused, pausesMs } = manualPauses();
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: RateSource = {
      name: 'slow',
      fetch: async () => {
        asked.resolve();
        await answered.promise;
        return { midE4: 800_000n, asOfMs: clock.nowMs() };
      },
    };
    const refresher = start([slow], wait);
    await asked.promise;
    expect(pausesMs).toEqual([]);
    answered.resolve();
    await untilPaused();
    expect(await countRates()).toBe(1n);
    await refresher.stop();
  });

  test('stops in the middle of a call, cutting it off without a word', async () => {
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
    const refresher = start([silent], manualPauses().wait);
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
