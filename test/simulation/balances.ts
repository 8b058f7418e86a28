import type { Account } from './accounts.ts';
import type { BookedPayment, Books } from './books.ts';
import type { World } from './world.ts';

interface Parts {
  partners: Account[];
  /** Micro-USDT by partner: credited besides, and returned of their payments. */
  topUps: Map<string, number>;
  refunded: Map<string, number>;
  /** The bank side has the orders of these, so limits do not hold them up. */
  rebuilt: Set<string>;
}

/** Balances and limits, compared with the payments. */
export function checkBalances(
  { violate, trace }: World,
  { accounts, payments }: Books,
  { partners, topUps, refunded, rebuilt }: Parts,
): void {
  for (const partner of partners)
    for (const mode of ['live', 'test'] as const) {
      const own = payments.filter(p => p.partnerId === partner.partnerId && p.mode === mode);
      const sum = (...statuses: string[]) =>
        own.filter(({ status }) => statuses.includes(status)).reduce((total, p) => total + p.microUsdt, 0);
      const ofLive = (sums: Map<string, number>) =>
        mode === 'live' ? (sums.get(partner.partnerId) ?? 0) : 0;
      const held = sum('processing');
      const settled = sum('succeeded') - ofLive(refunded);
      const available = partner.startMicroUsdt[mode] + ofLive(topUps) - held - settled;
      const expected = `available ${available}, held ${held}, settled ${settled}`;
      const account = accounts.find(a => a.partnerId === partner.partnerId && a.mode === mode)!;
      const found = `available ${account.available}, held ${account.held}, settled ${account.settled}`;
      if (found !== expected)
        violate(
          'balances agree with the payments',
          `${trace.nameOf(partner.partnerId)} ${mode}: ${found}; expected ${expected}`,
        );
      if (available < 0) violate('nobody pays more than they have', `${mode}: ${available}`);
      const opened = own.filter(({ paymentId }) => !rebuilt.has(paymentId));
      if (opened.filter(p => p.awaitingGateway).length > partner.limits.concurrent)
        violate('no more payments under way than allowed', `more than ${partner.limits.concurrent}`);
      const turnover = highestTurnover(opened);
      const { dailyKopecks } = partner.limits;
      if (dailyKopecks !== null && turnover > Number(dailyKopecks))
        violate('no more a day than allowed', `${turnover} of ${dailyKopecks}`);
    }
}

/** Of a day, in kopecks. */
export function highestTurnover(payments: BookedPayment[]): number {
  const days = new Map<number, number>();
  for (const { status, createdMs, kopecks } of payments) {
    const day = Math.floor(createdMs / 86_400_000);
    if (status === 'processing' || status === 'succeeded') days.set(day, (days.get(day) ?? 0) + kopecks);
  }
  return Math.max(0, ...days.values());
}
