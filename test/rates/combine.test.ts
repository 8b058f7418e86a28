import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRate } from '../../src/base/money.ts';
import { type Answer, combine, median, partnerRateE4, type Rules } from '../../src/rates/combine.ts';

const nowMs = Date.parse('2026-11-15T10:00:00Z');
const rules: Rules = {
  nowMs,
  maxAgeSec: 300,
  spreadBps: 100,
  bandBps: 500,
  jumpBps: 1_000,
  bounds: { minE4: 1n, maxE4: 10n ** 12n },
  lastMidE4: 800_000n,
  recentMidsE4: [],
};

const quoteOf = (source: string, rate: string, ageSec = 0, isSetByOperator = false): Answer => ({
  source,
  isSetByOperator,
  quote: { midE4: parseRate(rate)!, asOfMs: nowMs - ageSec * 1_000 },
});
const quotes = (...rates: string[]) => rates.map((rate, place) => quoteOf(`s${place}`, rate));
const kinds = (answers: Answer[], changes: Partial<Rules> = {}) =>
  combine(answers, { ...rules, ...changes }).alarms.map(({ kind }) => kind);
const midOf = (answers: Answer[], changes: Partial<Rules> = {}) =>
  combine(answers, { ...rules, ...changes }).rate?.midE4;
const outcomes = (answers: Answer[]) => combine(answers, rules).rate?.parts.map(({ outcome }) => outcome);

const rateE4 = fc.bigInt(1n, 99_999_999n);

describe('the median', () => {
  test.each([
    [[5n], 5n],
    [[1n, 2n], 2n],
    [[1n, 3n], 2n],
    [[9n, 1n, 5n], 5n],
    [[10n, 9n, 100n, 1n], 10n],
  ])('of %s is %s', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  test('has no more than half of the values on either side, whatever their order', () => {
    fc.assert(
      fc.property(fc.array(rateE4, { minLength: 1, maxLength: 9 }), values => {
        const middle = median(values);
        expect(values.filter(value => value < middle - 1n).length).toBeLessThanOrEqual(values.length / 2);
        expect(values.filter(value => value > middle).length).toBeLessThanOrEqual(values.length / 2);
        expect(median(values.toReversed())).toBe(middle);
      }),
    );
  });
});

describe('the rate of a partner', () => {
  test('is the mid less the spread, rounded down', () => {
    expect(partnerRateE4(925_000n, 100)).toBe(915_750n);
    expect(partnerRateE4(801_151n, 100)).toBe(793_139n);
    expect(partnerRateE4(801_151n, 0)).toBe(801_151n);
  });

  test('is the largest that does not give away any of the spread', () => {
    fc.assert(
      fc.property(rateE4, fc.integer({ min: 0, max: 5_000 }), (midE4, spreadBps) => {
        const rate = partnerRateE4(midE4, spreadBps);
        const exact = midE4 * BigInt(10_000 - spreadBps);
        expect(rate * 10_000n <= exact && exact < (rate + 1n) * 10_000n).toBe(true);
      }),
    );
  });
});

describe('freshness', () => {
  test('is judged for each source, to the millisecond', () => {
    expect(midOf([quoteOf('a', '80', 300)])).toBe(800_000n);
    expect(midOf([quoteOf('a', '80', 300.001)])).toBeUndefined();
    expect(kinds([quoteOf('a', '80', 301)])).toEqual(['rate_unavailable']);
  });

  test('a stale quote is recorded and not used', () => {
    const answers = [quoteOf('old', '90', 400), quoteOf('new', '80', 10)];
    expect(midOf(answers)).toBe(800_000n);
    expect(outcomes(answers)).toEqual(['stale', 'used']);
  });

  test('the result is as old as the oldest quote in it', () => {
    const answers = [
      quoteOf('a', '80', 20),
      quoteOf('b', '80.1', 50),
      quoteOf('c', '80.2', 5),
      quoteOf('stale', '80', 400),
      quoteOf('outlier', '95', 200),
    ];
    expect(combine(answers, rules).rate?.asOfMs).toBe(nowMs - 50_000);
  });
});

describe('the plausibility band', () => {
  test('drops a quote more than 5% from the median of three, with an alarm', () => {
    const answers = quotes('80', '80.2', '84.2101');
    expect(outcomes(answers)).toEqual(['used', 'used', 'outlier']);
    expect(midOf(answers)).toBe(801_000n);
    expect(combine(answers, rules).alarms).toEqual([
      { kind: 'rate_outlier', detail: 's2 quotes 84.2101, more than 5% from the median 80.2000' },
    ]);
  });

  test('exactly 5% is inside, on both sides', () => {
    expect(outcomes(quotes('76', '80', '84'))).toEqual(['used', 'used', 'used']);
    expect(outcomes(quotes('75.9999', '80', '84.0001'))).toEqual(['outlier', 'used', 'outlier']);
  });

  test('drops none of two, but raises an alarm', () => {
    const last = { lastMidE4: 900_000n };
    expect(midOf(quotes('80', '100'), last)).toBe(900_000n);
    expect(kinds(quotes('80', '100'), last)).toEqual(['rate_sources_disagree']);
    expect(kinds(quotes('80', '81'))).toEqual([]);
  });

  test('a stale quote is no part of the three', () => {
    const answers = [...quotes('80', '100'), quoteOf('old', '80', 400)];
    expect(midOf(answers, { lastMidE4: 900_000n })).toBe(900_000n);
  });

  test('two groups far apart leave no usable quote', () => {
    const camps = quotes('80', '80', '100', '100');
    expect(midOf(camps)).toBeUndefined();
    expect(kinds(camps)).toEqual([...Array(4).fill('rate_outlier'), 'rate_unavailable']);
  });

  test('one wrong source among right ones never moves the rate out of their range', () => {
    const honest = fc.array(fc.bigInt(792_000n, 808_000n), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(honest, rateE4, fc.nat(), (honestE4, lieE4, place) => {
        const midsE4 = honestE4.toSpliced(place % (honestE4.length + 1), 0, lieE4);
        const quote = (midE4: bigint) => ({ midE4, asOfMs: nowMs });
        const answers = midsE4.map((midE4, place) => ({ ...quoteOf(`s${place}`, '1'), quote: quote(midE4) }));
        const midE4 = midOf(answers)!;
        expect(midE4 >= 792_000n && midE4 <= 808_000n).toBe(true);
        expect(midOf(answers.toReversed())).toBe(midE4);
      }),
    );
  });
});

describe('a jump from the last rate', () => {
  const last = { lastMidE4: 800_000n };

  test('of more than 10% is rejected from one source alone', () => {
    expect(midOf(quotes('88'), last)).toBe(880_000n);
    expect(midOf(quotes('72'), last)).toBe(720_000n);
    for (const rate of ['88.0001', '71.9999', '8', '800']) {
      expect(midOf(quotes(rate), last)).toBeUndefined();
      expect(kinds(quotes(rate), last)).toEqual(['rate_jump']);
    }
  });

  test('has an alarm with what to do when it is real', () => {
    expect(combine(quotes('92.5'), { ...rules, ...last }).alarms[0]!.detail).toMatch(
      /^rejected: from 80\.0000 to 92\.5000, quoted by s0 alone; .* fixed:92\.5000$/,
    );
  });

  test('is accepted when two agree', () => {
    expect(midOf(quotes('92', '93'), last)).toBe(925_000n);
    expect(midOf(quotes('70', '120'), last)).toBeUndefined();
    expect(kinds(quotes('70', '120'), last)).toEqual(['rate_sources_disagree', 'rate_jump']);
  });

  test('agreement with a stale or dropped quote does not count', () => {
    expect(midOf([...quotes('92'), quoteOf('old', '92', 400)], last)).toBeUndefined();
  });

  test('is accepted from the operator', () => {
    expect(midOf([quoteOf('fixed', '92.5', 0, true)], last)).toBe(925_000n);
    expect(midOf([quoteOf('fixed', '80', 0, true), quoteOf('market', '120')], last)).toBeUndefined();
  });

  test('is none when there is no last rate', () => {
    expect(midOf(quotes('8'), { lastMidE4: undefined })).toBe(80_000n);
  });
});

describe('nothing usable', () => {
  test('names every source and its reason', () => {
    const answers = [{ source: 'rapira', reason: 'answered with HTTP status 451' }, quoteOf('b', '80', 999)];
    expect(combine(answers, rules)).toEqual({
      rate: undefined,
      alarms: [{ kind: 'rate_unavailable', detail: 'rapira: answered with HTTP status 451; b: stale' }],
    });
    expect(kinds([])).toEqual(['rate_unavailable']);
  });

  test('a rate that the spread rounds away is none', () => {
    expect(midOf(quotes('0.0001'))).toBeUndefined();
  });
});

test('a failed source does not affect the others and is recorded', () => {
  const answers = [{ source: 'broken', reason: 'no' }, ...quotes('80')];
  expect(combine(answers, rules)).toEqual({
    rate: {
      ...{ midE4: 800_000n, rateE4: 792_000n, spreadBps: 100, asOfMs: nowMs },
      parts: [
        { source: 'broken', outcome: 'failed', reason: 'no' },
        { source: 's0', outcome: 'used', midE4: 800_000n, asOfMs: nowMs },
      ],
    },
    alarms: [],
  });
});
