import type { Id } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import { readExposure } from '../payments/index.ts';
import type { ConsoleDeps } from './deps.ts';
import type { LockedQuotes } from './shapes/common.ts';

/** Live quotes of one partner, or of all. */
export async function readLockedQuotes(
  { db, clock, quoteLock }: ConsoleDeps,
  partnerId?: Id<'prt'>,
): Promise<LockedQuotes> {
  const { microUsdt, quotes } = await readExposure(db, clock, partnerId && { partnerId, mode: 'live' });
  const max = partnerId === undefined ? quoteLock.maxMicroUsdt : quoteLock.maxMicroUsdtOfPartner;
  return { locked_usdt: formatMicroUsdt(microUsdt), max_usdt: formatMicroUsdt(max), count: quotes };
}
