import type { Id } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import { readExposure } from '../payments/index.ts';
import type { ConsoleDeps } from './deps.ts';

/** Live quotes of one partner, or of all, whose rate is locked, neither used nor expired, and how much of them there may be. */
export async function readLockedQuotes({ db, clock, quoteLock }: ConsoleDeps, partnerId?: Id<'prt'>) {
  const { microUsdt, quotes } = await readExposure(db, clock, partnerId && { partnerId, mode: 'live' });
  const max = partnerId === undefined ? quoteLock.maxMicroUsdt : quoteLock.maxMicroUsdtOfPartner;
  return { locked_usdt: formatMicroUsdt(microUsdt), max_usdt: formatMicroUsdt(max), count: quotes };
}
