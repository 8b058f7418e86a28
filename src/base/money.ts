/**
 * Money is two integers: kopecks (1/100 RUB) and micro-USDT (1/1 000 000 USDT). Floating point never
 * touches it: text becomes a `bigint` here and becomes text again here.
 */

/** Amounts from one billion up are refused as mistakes. */
const maxWholeDigits = 9;

/** Plain decimal notation only: no sign, no exponent, no leading point, no more places than the unit has. */
function parseDecimal(text: string, places: number): bigint | undefined {
  const [whole = '', fraction = '', ...rest] = text.split('.');
  if (rest.length > 0 || !/^\d+$/.test(whole)) return undefined;
  if (text.includes('.') && !/^\d+$/.test(fraction)) return undefined;
  if (fraction.length > places || whole.replace(/^0+/, '').length > maxWholeDigits) return undefined;
  return BigInt(whole + fraction.padEnd(places, '0'));
}

function formatDecimal(amount: bigint, places: number): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(places + 1, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** `"100"`, `"100.5"`, `"100.50"` → 10000n, 10050n, 10050n; anything else → undefined. */
export const parseKopecks = (text: string) => parseDecimal(text, 2);
export const formatKopecks = (kopecks: bigint) => formatDecimal(kopecks, 2);

/** `"1.5"` → 1500000n; more than six places → undefined. */
export const parseMicroUsdt = (text: string) => parseDecimal(text, 6);
export const formatMicroUsdt = (microUsdt: bigint) => formatDecimal(microUsdt, 6);

/** Smallest first; a plain `sort` would compare the amounts as text. */
export const ascending = (amounts: bigint[]) => amounts.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** A rate is RUB for 1 USDT in ten-thousandths: `"92.5000"` ↔ 925000n. */
export const parseRate = (text: string) => parseDecimal(text, 4);
export const formatRate = (rateE4: bigint) => formatDecimal(rateE4, 4);

/**
 * Exchanges send prices with any number of decimal places. A price is kept exact, in units of 10^-30 (the 28 digits of
 * a Python Decimal fit), so that a mid price is rounded only once, at the end: `"80.12"` → 8012n * 10n ** 28n.
 */
const pricePlaces = 30;
const priceE30PerRateE4 = 10n ** 26n;
export const parsePrice = (text: string) => parseDecimal(text, pricePlaces);

/** The mid price of bid and ask, rounded to the nearest rate; a single price counts as both. */
export const midRateE4 = (bidE30: bigint, askE30 = bidE30) =>
  divideRoundingHalfUp(bidE30 + askE30, 2n * priceE30PerRateE4);

/** These three are the only divisions of money; the name says how the remainder is rounded. */
function divideRoundingUp(dividend: bigint, divisor: bigint): bigint {
  assertDivisible(dividend, divisor);
  return (dividend + divisor - 1n) / divisor;
}

export function divideRoundingDown(dividend: bigint, divisor: bigint): bigint {
  assertDivisible(dividend, divisor);
  return dividend / divisor;
}

export function divideRoundingHalfUp(dividend: bigint, divisor: bigint): bigint {
  assertDivisible(dividend, divisor);
  return (2n * dividend + divisor) / (2n * divisor);
}

function assertDivisible(dividend: bigint, divisor: bigint): void {
  if (divisor <= 0n || dividend < 0n) throw new RangeError(`cannot divide ${dividend} by ${divisor}`);
}

/**
 * What a payment costs: kopecks / 100 / (rateE4 / 10^4) * 10^6 in integers. Rounded up, so that the debit is
 * never smaller than what the rubles are worth.
 */
export const kopecksToMicroUsdt = (kopecks: bigint, rateE4: bigint) =>
  divideRoundingUp(kopecks * 100_000_000n, rateE4);
