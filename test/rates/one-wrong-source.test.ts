import { describe, expect, test } from 'vitest';
import { refreshRate } from '../../src/rates/refresh.ts';
import { broken, startRatesWorld } from './rates-world.ts';

const { clock, alarms, sourceOf, depsWith, countRates } = await startRatesWorld();
const minuteMs = 60_000;

/** The mid that follows from quotes of sources a, b, …; one minute after the one before. */
async function refresh(...rates: string[]) {
  clock.advance(minuteMs);
  const stored = await refreshRate(depsWith(...rates.map((rate, place) => sourceOf('abc'[place]!, rate))));
  return stored?.midE4;
}
const kinds = () => alarms.map(({ kind }) => kind);

describe('the first rate', () => {
  test('two sources that disagree give none', async () => {
    expect(await refresh('92.5', '120')).toBeUndefined();
    expect(kinds()).toEqual(['rate_sources_disagree', 'rate_unavailable']);
    expect(alarms[1]!.detail).toContain('a quotes 92.5000; b quotes 120.0000');
    expect(await countRates()).toBe(0n);
  });

  test('92.5 and 9250 give none', async () => {
    expect(await refresh('92.5', '9250')).toBeUndefined();
    expect(kinds()).toEqual(['rate_outlier', 'rate_unavailable']);
  });

  test('one of two configured sources alone gives none', async () => {
    expect(await refreshRate(depsWith(sourceOf('a', '92.5'), broken))).toBeUndefined();
    expect(await refresh('92.5', '92.7')).toBe(926_000n);
  });

  test('comes from the only source, or from the operator', async () => {
    const fixed = { ...sourceOf('fixed:92.5000', '92.5'), isSetByOperator: true };
    expect(await refreshRate(depsWith(fixed, broken))).toMatchObject({ midE4: 925_000n });
  });
});

describe('the bounds', () => {
  test('a quote outside of the bounds is never used', async () => {
    for (const wrong of ['39.9999', '400.0001']) {
      alarms.splice(0);
      expect(await refresh(wrong)).toBeUndefined();
      expect(kinds()).toEqual(['rate_outlier', 'rate_unavailable']);
      expect(await refresh(wrong, wrong)).toBeUndefined();
    }
    expect(alarms[0]!.detail).toBe(
      'a quotes 400.0001, outside of RATE_MIN and RATE_MAX (40.0000 to 400.0000)',
    );
    expect(await refresh('400')).toBe(4_000_000n);
  });

  test('it does not disturb the others', async () => {
    expect(await refresh('92.5', '92.7', '9250')).toBe(926_000n);
  });
});

describe('an hour', () => {
  test('one source cannot move the rate by more than the jump in many steps', async () => {
    expect(await refresh('80')).toBe(800_000n);
    let rate = 80;
    for (let step = 0; step < 8; step++) {
      rate *= 1.0989;
      await refresh(rate.toFixed(4));
    }
    expect(await refresh('88')).toBe(880_000n);
    expect(await refresh('88.0001')).toBeUndefined();
    expect(kinds().at(-1)).toBe('rate_jump');
    expect(alarms.at(-1)!.detail).toContain('from 80.0000 to 88.0001');
  });

  test('it counts back and forth: the whole range is bounded', async () => {
    for (const rate of ['80', '84', '78']) expect(await refresh(rate)).toBeDefined();
    expect(await refresh('86')).toBeUndefined();
    expect(await refresh('75.5')).toBeUndefined();
  });

  test('what is older than an hour no longer counts, the last rate always does', async () => {
    await refresh('80');
    for (let minute = 0; minute < 59; minute++) await refresh('87');
    expect(await refresh('88.1')).toBeUndefined();
    expect(await refresh('88.1')).toBe(881_000n);
  });

  test('a jump that two sources confirmed counts from then on, even if one of them is silent', async () => {
    await refresh('80');
    expect(await refresh('95', '95.2')).toBe(951_000n);
    expect(await refresh('95.1')).toBe(951_000n);
    expect(await refresh('104')).toBe(1_040_000n);
    expect(await refresh('105')).toBeUndefined();
  });

  test('a rate that the operator set counts from then on', async () => {
    await refresh('80');
    const fixed = { ...sourceOf('fixed:95.0000', '95'), isSetByOperator: true };
    expect(await refreshRate(depsWith(fixed))).toMatchObject({ midE4: 950_000n });
    expect(await refresh('95.1')).toBe(951_000n);
  });
});
