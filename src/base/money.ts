/**
 * Money is two integers: kopecks (1/100 RUB) and micro-USDT (1/1 000 000 USDT). Floating point never
 * touches it: text becomes a `bigint` here and becomes text again here.
 */

/** No amount this service handles has more digits before the point: a billion of anything is too much. */
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

/** A rate is RUB for 1 USDT in ten-thousandths: `"92.5000"` ↔ 925000n. */
export const parseRate = (text: string) => parseDecimal(text, 4);
export const formatRate = (rateE4: bigint) => formatDecimal(rateE4, 4);

/** The only division of money there is; its name says which side the remainder falls on. */
function divideRoundingUp(dividend: bigint, divisor: bigint): bigint {
  if (divisor <= 0n || dividend < 0n) throw new RangeError(`cannot divide ${dividend} by ${divisor}`);
  return (dividend + divisor - 1n) / divisor;
}

/**
 * What a payment costs: kopecks / 100 / (rateE4 / 10^4) * 10^6 in integers. Rounded up, so that the debit is
 * never smaller than what the rubles are worth.
 */
export const kopecksToMicroUsdt = (kopecks: bigint, rateE4: bigint) =>
  divideRoundingUp(kopecks * 100_000_000n, rateE4);
