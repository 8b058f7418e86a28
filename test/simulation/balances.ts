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
  { violate }: World,
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
          `${partner.partnerId} ${mode}: ${found}; expected ${expected}`,
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

/** Between a commit and the due time that it wrote: leases and pauses of payments, and delayed outcomes in test mode. */
const maxPauseMs = 120_000;

/** When the statement was sent, and the books before and after it. */
interface Change {
  sentMs: number;
  before: Books;
  now: Books;
  /** A payment of a history that was lost: rebuilt, it keeps its time. */
  findLost(paymentId: string): BookedPayment | undefined;
}

/**
 * No time on record is further from the moment of its commit than the clock of its process may be off. It may be older by
 * the time that its statement took to run.
 */
export function checkTimes(world: World, { sentMs, before, now, findLost }: Change): void {
  const { scheduler, violate } = world;
  const [earliestMs, latestMs] = [sentMs - world.clockErrorMs, scheduler.nowMs() + world.clockErrorMs];
  const known = new Map(before.payments.map(payment => [payment.paymentId, payment]));

  function check(what: string, atMs: number | null, beforeMs: number | null | undefined, extraMs = 0): void {
    if (atMs === null || atMs === beforeMs) return;
    const isDue = extraMs > 0;
    if ((isDue || atMs >= earliestMs) && atMs <= latestMs + extraMs) return;
    violate(
      "every time on record is the database's",
      `${what} is ${atMs - scheduler.nowMs()} ms from its commit, ${scheduler.nowMs() - sentMs} ms after it was sent`,
    );
  }

  for (const payment of now.payments) {
    const { createdMs, settledMs, eventMs, dueMs } = payment;
    const was: Partial<BookedPayment> = known.get(payment.paymentId) ?? {};
    const name = payment.paymentId;
    const lost = findLost(payment.paymentId);
    check(`the creation of ${name}`, createdMs, was.createdMs ?? lost?.createdMs);
    check(`the end of ${name}`, settledMs, was.settledMs);
    check(`the event of ${name}`, eventMs, was.eventMs);
    check(`the due time of ${name}`, dueMs, was.dueMs, maxPauseMs);
  }
  for (const { partnerId, mode, lastEntryMs } of now.accounts) {
    const was = before.accounts.find(account => account.partnerId === partnerId && account.mode === mode);
    if (was) check(`an entry of ${partnerId}`, lastEntryMs, was.lastEntryMs);
  }
}
