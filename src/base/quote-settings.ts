import { parseMicroUsdt } from './money.ts';
import { refuseSetting } from './operator-error.ts';
import { wholeNumber } from './whole-number.ts';

export type QuoteLockSettings = ReturnType<typeof readQuoteLock>;

/** What a locked quote may cost the service. */
export const readQuoteLock = (read: (name: string) => string | undefined) => ({
  lifetimeSec: wholeNumber('QUOTE_LOCK_SEC', read('QUOTE_LOCK_SEC') ?? '60', 30, 900),
  /** On top of the spread of the rate, in hundredths of a percent. */
  spreadBps: wholeNumber('QUOTE_LOCK_SPREAD_BPS', read('QUOTE_LOCK_SPREAD_BPS') ?? '50', 0, 5_000),
  /** The sum of the unused quotes of a partner and mode. 0: no quote is locked. */
  maxMicroUsdtOfPartner: usdt('QUOTE_LOCK_PARTNER_USDT', read('QUOTE_LOCK_PARTNER_USDT') ?? '5000'),
  /** The sum of the unused live quotes of all partners. */
  maxMicroUsdt: usdt('QUOTE_LOCK_TOTAL_USDT', read('QUOTE_LOCK_TOTAL_USDT') ?? '50000'),
});

const usdt = (name: string, text: string) =>
  parseMicroUsdt(text) ??
  refuseSetting(name, `must be an amount in USDT such as 5000, not "${text.slice(0, 40)}"`);
