import type { BookedPayment, Books } from './books.ts';
import type { World } from './world.ts';

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
  const { scheduler, violate, trace } = world;
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
    const name = trace.nameOf(payment.paymentId);
    const lost = findLost(payment.paymentId);
    check(`the creation of ${name}`, createdMs, was.createdMs ?? lost?.createdMs);
    check(`the end of ${name}`, settledMs, was.settledMs);
    check(`the event of ${name}`, eventMs, was.eventMs);
    check(`the due time of ${name}`, dueMs, was.dueMs, maxPauseMs);
  }
  for (const { partnerId, mode, lastEntryMs } of now.accounts) {
    const was = before.accounts.find(account => account.partnerId === partnerId && account.mode === mode);
    if (was) check(`an entry of ${trace.nameOf(partnerId)}`, lastEntryMs, was.lastEntryMs);
  }
}
