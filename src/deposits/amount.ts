import { divideRoundingDown } from '../base/money.ts';

/** A billion USDT, as for every other amount. More is never credited as a deposit. */
export const maxMicroUsdt = 10n ** 15n;

/** Rounded down to six places; the rest stays on record. */
export function amountOf(units: bigint, decimals: number): { microUsdt: bigint; restUnits: bigint } {
  const unitsPerMicro = 10n ** BigInt(decimals - 6);
  const microUsdt = divideRoundingDown(units, unitsPerMicro);
  return { microUsdt, restUnits: units - microUsdt * unitsPerMicro };
}
