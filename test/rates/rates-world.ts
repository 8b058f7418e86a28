import { beforeEach } from 'vitest';
import { parseRate } from '../../src/base/money.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import type { Alarm, RateSource } from '../../src/rates/index.ts';
import { createTimedDatabase } from '../helpers/database.ts';

/** A database without rates and a clock that stands at the same time before every test. */
export async function startRatesWorld() {
  const { pool, clock } = await createTimedDatabase();
  const startMs = clock.nowMs();
  const alarms: Alarm[] = [];
  beforeEach(async () => {
    clock.advance(startMs - clock.nowMs());
    alarms.splice(0);
    await pool.query(`
      SET session_replication_role = replica; TRUNCATE rates; SET session_replication_role = DEFAULT;
      UPDATE rate_refresh SET claimed_at = '-infinity'`);
  });
  return {
    pool,
    clock,
    alarms,
    sourceOf: (name: string, rate: string): RateSource => ({
      name,
      fetch: async () => ({ midE4: parseRate(rate)!, asOfMs: clock.nowMs() }),
    }),
    depsWith: (...sources: RateSource[]) => ({
      ...{ db: pool as Queryable, clock, sources, spreadBps: 100, maxAgeSec: 300 },
      bounds: { minE4: 400_000n, maxE4: 4_000_000n },
      reportAlarms: (raised: Alarm[]) => void alarms.push(...raised),
    }),
    countRates: async () => (await pool.query('SELECT count(*) FROM rates')).rows[0].count,
  };
}

export const broken: RateSource = { name: 'broken', fetch: () => Promise.reject(new Error('not today')) };
