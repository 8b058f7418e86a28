import type { ListedRefund, RefundPage } from '../../src/gateway/gateway.ts';
import type { Random } from '../helpers/random.ts';
import type { Bank } from './bank.ts';
import type { World } from './world.ts';

export interface BankRefund extends ListedRefund {
  /** For the trace. */
  name: string;
  /** Payment and amount, each time it was listed and not revoked: two, if the bank side gave a false list. */
  claims: Set<string>;
}

/** The refunds that the bank side makes, revokes and lists. */
export interface BankRefunds {
  /** This order was paid, so it may be refunded. */
  paid(paymentId: string): void;
  list(since: Date, cursor: string | undefined): RefundPage;
  /** Those that a list would have. */
  listed(): BankRefund[];
  stopFaults(): void;
  /** How many refunds and revocations are still to come. */
  planned(): number;
}

export const claimOf = (paymentId: string, kopecks: number | bigint) => `${paymentId} ${kopecks}`;

/** Few, so that most lists have several pages. */
const refundsPerPage = 2;
/** No order has it. */
const unknownPayment = `pay_${'0'.repeat(26)}`;

/** It returns orders in parts or wholly, and sometimes, against its contract, more than was paid or what was not. */
export function createBankRefunds(
  world: World,
  { random, prefix, bank }: { random: Random; prefix: string; bank: Bank },
): BankRefunds {
  const { scheduler, trace } = world;
  const refunds: BankRefund[] = [];
  const share = { false: random.pick([0, 0.2, 0.4]), revoked: random.pick([0, 0.2]), late: 0.2, twice: 0.2 };
  let planned = 0;

  function later(ms: number, act: () => void): void {
    planned += 1;
    scheduler.after(ms, {
      run: () => {
        planned -= 1;
        act();
      },
    });
  }

  /** What the bank side itself believes is left. */
  function leftOf(paymentId: string): number {
    const own = refunds.filter(refund => refund.paymentId === paymentId && !refund.isRevoked);
    const returned = own.reduce((sum, { amountKopecks }) => sum + Number(amountKopecks), 0);
    return Number(bank.truthOf(paymentId).amountKopecks) - returned;
  }

  function add(paymentId: string, kopecks: number): void {
    const name = `refund ${refunds.length + 1}`;
    const ageMs = random.chance(share.late) ? random.between(0, 1_200_000) : 0;
    const refund: BankRefund = {
      refundId: `${prefix}${refunds.length + 1}`,
      paymentId,
      amountKopecks: BigInt(kopecks),
      createdAt: new Date(scheduler.nowMs() - ageMs),
      isRevoked: false,
      name,
      claims: new Set(),
    };
    refunds.push(refund);
    trace.add('bank', `makes ${name} of ${kopecks} for ${trace.nameOf(paymentId)}`);
    if (!world.script && random.chance(share.revoked)) later(random.between(0, 90_000), () => revoke(refund));
  }

  function revoke(refund: BankRefund): void {
    refund.isRevoked = true;
    trace.add('bank', `revokes ${refund.name}`);
  }

  function refund(paymentId: string): void {
    const left = leftOf(paymentId);
    if (random.chance(share.false)) {
      if (random.chance(0.2)) add(unknownPayment, random.between(1, 5_000));
      else add(paymentId, Math.max(left, 0) + random.between(1, 5_000));
    } else if (left > 0) add(paymentId, random.chance(0.5) ? left : random.between(1, left));
  }

  /** Sometimes a refund is listed with another amount than before. */
  function say(refund: BankRefund): ListedRefund {
    const { refundId, paymentId, createdAt, isRevoked } = refund;
    const isFalse = random.chance(world.faults.lie / 8);
    const amountKopecks = refund.amountKopecks + (isFalse ? 1n : 0n);
    if (!isRevoked) refund.claims.add(claimOf(paymentId, amountKopecks));
    return { refundId, paymentId, amountKopecks, createdAt, isRevoked };
  }

  return {
    paid: paymentId => {
      for (let left = random.pick([0, 1, 1, 2, 3]); left > 0; left--)
        later(random.between(0, random.pick([2_000, 120_000])), () => refund(paymentId));
    },
    // New ones come last, so a position in the list stays valid.
    list: (since, cursor) => {
      const found = refunds.filter(({ createdAt }) => createdAt >= since);
      const from = Number(cursor ?? 0);
      const end = from + refundsPerPage;
      const again = from > 0 && random.chance(share.twice) ? 1 : 0;
      const page = found.slice(from - again, end).map(say);
      return { refunds: page, nextCursor: end < found.length ? `${end}` : null };
    },
    listed: () => refunds,
    stopFaults: () => Object.assign(share, { false: 0, late: 0, twice: 0 }),
    planned: () => planned,
  };
}
