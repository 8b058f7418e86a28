import type { Mode } from '../../src/ledger/index.ts';
import type { LockedQuote, Payment } from '../../src/payments/index.ts';
import { type Account, quoteLock, type Wanted } from './accounts.ts';
import type { Books } from './books.ts';
import type { Processes } from './processes.ts';
import type { World } from './world.ts';

const reusedShare = 0.3;
const lockedShare = 0.6;

export function createQuotes(world: World, processes: () => Processes) {
  const { random, trace, violate } = world;
  const locked = new Map<string, { quote: LockedQuote; account: Account; mode: Mode }>();
  /** By partner, mode and idempotency key. */
  const quoteOfKey = new Map<string, string>();
  const paidBy = new Map<string, string>();
  const keyOf = (partnerId: string, mode: Mode, key: string) => `${partnerId} ${mode} ${key}`;

  function give(
    wanted: Wanted,
    quoteId: string | undefined,
    done: (quoteId: string | undefined) => void,
  ): void {
    if (quoteId !== undefined)
      quoteOfKey.set(keyOf(wanted.account.partnerId, wanted.mode, wanted.key), quoteId);
    done(quoteId);
  }

  /** No sum of a partner and mode, nor of all live ones, is above its limit; quotes of undone payments may come on top. */
  async function checkLimits(): Promise<void> {
    const { rows } = await world.pool.query<{ sum: bigint; max: bigint }>({
      text: `SELECT sum(micro_usdt)::bigint AS sum, $2::bigint AS max FROM locked_quotes
              WHERE payment_id IS NULL AND expires_at > $1 GROUP BY partner_id, mode
             UNION ALL
             SELECT sum(micro_usdt)::bigint, $3 FROM locked_quotes
              WHERE payment_id IS NULL AND expires_at > $1 AND mode = 'live'`,
      values: [
        // Later than any process believes.
        new Date(world.scheduler.nowMs() + world.clockErrorMs),
        quoteLock.maxMicroUsdtOfPartner,
        quoteLock.maxMicroUsdt,
      ],
    });
    for (const { sum, max } of rows)
      if (sum > max) violate('no more is locked than may be', `${sum} of ${max}`);
  }

  type Done = (quoteId: string | undefined) => void;

  /** Calls back with a quote for the payment, or without one: not every payment gets one. */
  function lockFor(wanted: Wanted, done: Done): void {
    const earlier = [...locked.values()].filter(one => one.account === wanted.account);
    if (earlier.length > 0 && random.chance(world.script ? 1 : reusedShare))
      give(wanted, random.pick(earlier).quote.quoteId, done);
    else if (processes().running().length > 0 && random.chance(world.script ? 1 : lockedShare))
      lockNew(wanted, done);
    else done(undefined);
  }

  function lockNew(wanted: Wanted, done: Done): void {
    const { account, mode, qr } = wanted;
    const { partnerId, limits } = account;
    const process = random.pick(processes().running());
    process.lock({ partnerId, mode, limits }, qr.amountKopecks, async locking => {
      if (locking?.outcome !== 'locked') {
        done(undefined);
        return;
      }
      const { quote } = locking;
      trace.add(partnerId, `has locked ${quote.quoteId}`);
      locked.set(quote.quoteId, { quote, account, mode });
      give(wanted, quote.quoteId, done);
      if (process.history.lostMs === undefined) await checkLimits();
    });
  }

  /** A partner has seen the payment of a request with this quote. */
  function sawPayment(quoteId: string, { paymentId, partnerId, mode, ...payment }: Payment): void {
    const { quote, ...owner } = locked.get(quoteId)!;
    const name = `${paymentId} with ${quoteId}`;
    const by = paidBy.get(quoteId) ?? paymentId;
    paidBy.set(quoteId, by);
    if (by !== paymentId) violate('a quote pays once', `${name}, and ${by}`);
    if (partnerId !== owner.account.partnerId || mode !== owner.mode)
      violate('a quote pays for its own partner and mode', name);
    if (payment.amountKopecks !== quote.amountKopecks || payment.microUsdt !== quote.microUsdt)
      violate('a payment has the terms of its quote', name);
    if (payment.createdAt >= quote.expiresAt) violate('a quote that has expired pays nothing', name);
  }

  /** After every step, with the books of the current history. */
  function check({ payments }: Books): void {
    const payers = new Map<string, string>();
    for (const { paymentId, partnerId, mode, key, status } of payments) {
      const quoteId = quoteOfKey.get(keyOf(partnerId, mode, key));
      if (quoteId === undefined || status === 'rejected') continue;
      const other = payers.get(quoteId);
      if (other) violate('a quote pays once', `${quoteId}: ${other}, ${paymentId}`);
      payers.set(quoteId, paymentId);
    }
  }

  return { lockFor, sawPayment, check };
}

/** Quotes that partners lock before they pay, use a second time, use for another payment, or let expire. */
export type Quotes = ReturnType<typeof createQuotes>;
