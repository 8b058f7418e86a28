import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { listen } from '../../src/db/postgres/listen.ts';
import {
  changeRateRules,
  chartRates,
  computeWhatIf,
  listRateRules,
  readRateRules,
  rulesChanged,
  startRateRefresher,
} from '../../src/rates/index.ts';
import { claimRefresh, refreshRate } from '../../src/rates/refresh.ts';
import { auditContextOf } from '../helpers/database.ts';
import { startRatesWorld } from './rates-world.ts';

const { pool, clock, sourceOf, depsWith: depsOf } = await startRatesWorld();
const audit = auditContextOf(pool, clock);
const settingBps = 100;
const bounds = { minE4: 400_000n, maxE4: 4_000_000n };
const depsWith = (...rates: number[]) =>
  depsOf(...rates.map((rate, index) => sourceOf(`s${index}`, `${rate}`)));

const change = async (
  rules: { spreadBps?: number; bandBps?: number; jumpBps?: number },
  version?: number,
) => {
  const before = await readRateRules(pool, settingBps);
  const wanted = { rules: { ...before, ...rules }, reason: 'a test' };
  return changeRateRules(audit, settingBps, { ...wanted, expectedVersion: version ?? before.version });
};

describe('the rules', () => {
  test('are those of the settings until somebody changes them, then those of the last change', async () => {
    expect(await readRateRules(pool, settingBps)).toMatchObject({ version: 0, spreadBps: 100, bandBps: 500 });
    expect((await change({ spreadBps: 250 })).outcome).toBe('changed');
    const changed = { version: 1, spreadBps: 250, jumpBps: 1_000, setBy: 'test', reason: 'a test' };
    expect(await readRateRules(pool, settingBps)).toMatchObject(changed);
    expect((await refreshRate(depsWith(80)))!.rateE4).toBe(780_000n);
    const { rows } = await pool.query(`SELECT actor, before, after FROM audit WHERE action = 'rate.rules'`);
    expect(rows).toEqual([
      {
        actor: 'test',
        before: { spread_bps: 100, band_percent: 5, jump_percent: 10 },
        after: { spread_bps: 250, band_percent: 5, jump_percent: 10, reason: 'a test' },
      },
    ]);
  });

  test('of two changes of the same version, one is stale', async () => {
    const { version } = await readRateRules(pool, settingBps);
    const verdicts = await Promise.all([300, 400].map(bandBps => change({ bandBps }, version)));
    expect(verdicts.map(({ outcome }) => outcome).toSorted()).toEqual(['changed', 'stale']);
    expect((await change({ bandBps: verdicts[0]!.rules.bandBps })).outcome).toBe('same');
    expect(await listRateRules(pool, 10)).toHaveLength(2);
  });

  test('decide about outliers and jumps', async () => {
    await change({ bandBps: 500, jumpBps: 1_000 });
    await refreshRate(depsWith(80));
    expect(await refreshRate(depsWith(80, 80, 83))).toMatchObject({ midE4: 800_000n });
    await change({ bandBps: 300, jumpBps: 100 });
    const rate = await refreshRate(depsWith(80, 80, 83));
    const stored = await pool.query('SELECT parts FROM rates WHERE id = $1', [rate!.rateId]);
    const outcomes = stored.rows[0].parts.map(({ outcome }: { outcome: string }) => outcome);
    expect(outcomes).toEqual(['used', 'used', 'outlier']);
    expect(await refreshRate(depsWith(81.5))).toBeUndefined();
  });

  test('never change afterwards', async () => {
    await expect(pool.query('UPDATE rate_rules SET spread_bps = 0')).rejects.toThrow('only ever added');
  });

  test('trigger a refresh at once, even if another process has the claim', async () => {
    await claimRefresh(pool, clock, 3_600);
    await refreshRate(depsWith(80));
    const refresher = startRateRefresher({ ...depsWith(80), refreshSec: 3_600, onError: expect.unreachable });
    const listener = listen({ pool, clock: systemClock }, rulesChanged, refresher.runNow);
    await expect.poll(() => listener.isListening()).toBe(true);
    await change({ spreadBps: 500, jumpBps: 1_000 });
    const spreadNow = async () =>
      (await pool.query('SELECT spread_bps FROM rates ORDER BY id DESC LIMIT 1')).rows[0].spread_bps;
    await expect.poll(spreadNow, { timeout: 3_000 }).toBe(500);
    await refresher.stop();
    await listener.close();
  });
});

describe('what if', () => {
  const asked = { amountKopecks: 100_00n, maxAgeSec: 300, bounds, operatorSources: [] };

  test('computes the rate of the last quotes with other rules', async () => {
    await change({ spreadBps: 0, bandBps: 500, jumpBps: 5_000 });
    await refreshRate(depsWith(80, 80, 83));
    const rules = { spreadBps: 1_000, bandBps: 300, jumpBps: 5_000 };
    expect(await computeWhatIf(pool, rules, asked)).toMatchObject({
      rate: { midE4: 800_000n, rateE4: 720_000n, microUsdt: 1_388_889n },
      now: { rateE4: 800_000n, microUsdt: 1_250_000n },
      parts: [{ outcome: 'used' }, { outcome: 'used' }, { outcome: 'outlier' }],
      alarms: [{ kind: 'rate_outlier' }],
    });
  });

  test('has no rate when the rules would give none', async () => {
    await refreshRate(depsWith(80));
    await refreshRate(depsWith(90));
    const rules = { spreadBps: 0, bandBps: 500, jumpBps: 500 };
    expect(await computeWhatIf(pool, rules, asked)).toMatchObject({
      rate: undefined,
      now: { rateE4: 900_000n },
      alarms: [{ kind: 'rate_jump' }],
    });
    expect(await computeWhatIf(pool, rules, { ...asked, operatorSources: ['s0'] })).toMatchObject({
      rate: { rateE4: 900_000n },
    });
  });
});

test('a chart has a limited number of points, in order, and ends with the current rate', async () => {
  const from = clock.nowMs();
  await pool.query(
    `INSERT INTO rates (as_of, created_at, mid_e4, spread_bps, rate_e4, parts)
       SELECT t, t, 800000 + n, 0, 800000 + n, '[]'
         FROM generate_series(1, 20000) AS n, LATERAL (SELECT $1::timestamptz + n * interval '60 s' AS t)`,
    [new Date(from)],
  );
  clock.advance(20_000 * 60_000);
  const points = await chartRates(pool, new Date(from), new Date(clock.nowMs()));
  expect(points.length).toBeLessThanOrEqual(400);
  expect(points.length).toBeGreaterThan(390);
  expect(points.at(-1)!.midE4).toBe(820_000n);
  expect(points.map(({ midE4 }) => midE4)).toEqual(points.map(({ midE4 }) => midE4).toSorted());
});
