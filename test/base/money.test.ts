import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ascending,
  divideRoundingDown,
  divideRoundingHalfUp,
  formatKopecks,
  formatMicroUsdt,
  formatRate,
  kopecksToMicroUsdt,
  midRateE4,
  parseKopecks,
  parseMicroUsdt,
  parsePrice,
  parseRate,
} from '../../src/base/money.ts';
import { words } from '../helpers/words.ts';

describe('money as text', () => {
  test.each([
    ['100.50', 10_050n],
    ['0', 0n],
    ['007', 700n],
  ])('%s rubles are %s kopecks', (text, kopecks) => {
    expect(parseKopecks(text)).toBe(kopecks);
  });

  test.each([
    ...['', ' ', ' 1', '1 ', '1'.repeat(30)],
    ...words('. 1. .5 -1 -0 +1 1,5 1e2 1e400 NaN Infinity 0x10 1.234 1_000 ١ 1.1.1 1000000000'),
  ])('%j is not an amount of rubles', text => {
    expect(parseKopecks(text)).toBeUndefined();
  });

  test('USDT have six places and not seven', () => {
    expect(parseMicroUsdt('0.000001')).toBe(1n);
    expect(parseMicroUsdt('0.0000001')).toBeUndefined();
    expect(formatMicroUsdt(-1n)).toBe('-0.000001');
    expect(formatMicroUsdt(1_234_567_890n)).toBe('1234.567890');
  });

  test('what is formatted is read back the same', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 99_999_999_999n), amount => {
        expect(parseKopecks(formatKopecks(amount))).toBe(amount);
        expect(parseMicroUsdt(formatMicroUsdt(amount))).toBe(amount);
        expect(parseRate(formatRate(amount))).toBe(amount);
      }),
    );
  });
});

describe('conversion', () => {
  test('a debit is the smallest amount worth at least the rubles', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10_000_000_000n), fc.bigInt(1n, 10_000_000n), (kopecks, rateE4) => {
        const microUsdt = kopecksToMicroUsdt(kopecks, rateE4);
        const worth = (amount: bigint) => amount * rateE4;
        const needed = kopecks * 100_000_000n;
        expect(worth(microUsdt) >= needed && worth(microUsdt - 1n) < needed).toBe(true);
      }),
    );
  });

  test('a rate of zero throws', () => {
    expect(() => kopecksToMicroUsdt(1n, 0n)).toThrow(RangeError);
  });
});

describe('prices', () => {
  test.each([
    ['80.12', '801200'],
    ['80.12345', '801235'],
    ['80.123449999999999999999999999999', '801234'],
    ['0.00005', '1'],
    ['0.000049', '0'],
    ['999999999', '9999999990000'],
  ])('%s is %s ten-thousandths, rounded half up', (text, rateE4) => {
    expect(midRateE4(parsePrice(text)!)).toBe(BigInt(rateE4));
  });

  test.each(['', '-1', '1e2', '.5', '1,5', '1000000000', `1.${'0'.repeat(31)}`])('%j is no price', text => {
    expect(parsePrice(text)).toBeUndefined();
  });

  test('a mid price is rounded once', () => {
    expect(midRateE4(parsePrice('80.11')!, parsePrice('80.12')!)).toBe(801_150n);
    expect(midRateE4(parsePrice('80.0000')!, parsePrice('80.0001')!)).toBe(800_001n);
    // Rounded one by one they would be 80.0000 and 80.0001, and the mid price 80.0001.
    expect(midRateE4(parsePrice('80.00001')!, parsePrice('80.00005')!)).toBe(800_000n);
  });
});

describe('divisions', () => {
  test('each rounds as its name says', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 18n), fc.bigInt(1n, 10n ** 9n), (dividend, divisor) => {
        const down = divideRoundingDown(dividend, divisor);
        expect(down * divisor <= dividend && dividend < (down + 1n) * divisor).toBe(true);
        const nearest = divideRoundingHalfUp(dividend, divisor);
        const error2 = 2n * (nearest * divisor - dividend);
        expect(-divisor < error2 && error2 <= divisor).toBe(true);
      }),
    );
  });

  test.each([divideRoundingDown, divideRoundingHalfUp])('refuse what is below zero: %o', divide => {
    expect(() => divide(-1n, 2n)).toThrow(RangeError);
    expect(() => divide(1n, 0n)).toThrow(RangeError);
  });
});

test('amounts are sorted as numbers', () => {
  expect(ascending([10n, 9n, 100n, 1n])).toEqual([1n, 9n, 10n, 100n]);
});
