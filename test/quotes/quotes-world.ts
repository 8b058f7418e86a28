import { randomUUID } from 'node:crypto';
import { afterAll, expect } from 'vitest';
import { type Id, newId, uuidFromId } from '../../src/base/ids.ts';
import { kopecksToMicroUsdt } from '../../src/base/money.ts';
import type { QuoteLockSettings } from '../../src/base/quote-settings.ts';
import { openPool, type Pool, type Queryable } from '../../src/db/postgres/pool.ts';
import type { Mode } from '../../src/ledger/index.ts';
import { createQuoteLocker, type QuoteTerms } from '../../src/payments/quotes/locker.ts';
import type { LockedQuote } from '../../src/payments/quotes/quote.ts';
import { defaultQuoteLock } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase, setRate } from '../helpers/database.ts';
import { startOpenings } from '../helpers/openings.ts';

/** Partners that lock quotes and pay with them, through the functions of the database alone. */
export async function startQuotesWorld() {
  // Tests hold locks: no statement may give up waiting because the machine is slow.
  const { pool, url } = await createDatabase({ limits: { lock_timeout: 60_000 } });
  await setRate(pool);
  const clock = manualClock();
  const { opening, writer, newPartner, findings } = await startOpenings(pool, clock);
  const { rows } = await pool.query<{ id: bigint }>('SELECT max(id) AS id FROM rates');
  const rateId = rows[0]!.id;

  const lockerWith = (settings: Partial<QuoteLockSettings> = {}, db: Queryable = pool) =>
    createQuoteLocker(db, clock, { ...defaultQuoteLock, ...settings });

  const termsOf = (partnerId: Id<'prt'>, change: Partial<QuoteTerms> = {}): QuoteTerms => {
    const terms = { amountKopecks: 15_000n, rateE4: 920_375n, ...change };
    return {
      ...{ partnerId, mode: 'live', rateId, rateStaleAt: new Date(clock.nowMs() + 300_000) },
      microUsdt: kopecksToMicroUsdt(terms.amountKopecks, terms.rateE4),
      ...terms,
    };
  };

  async function lock(partnerId: Id<'prt'>, change: Partial<QuoteTerms> = {}): Promise<LockedQuote> {
    const locking = await lockerWith({ maxMicroUsdtOfPartner: 10n ** 15n, maxMicroUsdt: 10n ** 15n }).lock(
      termsOf(partnerId, change),
    );
    if (locking.outcome !== 'locked') throw new Error(locking.code);
    return locking.quote;
  }

  /** A payment with the terms of the quote. */
  const paymentWith = (partnerId: Id<'prt'>, quote: LockedQuote, change: object = {}) =>
    opening(partnerId, {
      paymentId: newId('pay', clock),
      idempotencyKey: randomUUID(),
      amountKopecks: quote.amountKopecks,
      microUsdt: quote.microUsdt,
      rateE4: quote.rateE4,
      rateStaleAt: new Date('2030-01-01'),
      quoteId: quote.quoteId,
      ...change,
    });

  return {
    ...{ pool, url, clock, writer, lockerWith, termsOf, lock, paymentWith, newPartner, findings },
    /** The connections of a second process, open already: what is opened first would be alone otherwise. */
    openOther: async (): Promise<Pool> => {
      const other = openPool({ ...pool.options }, 4);
      afterAll(() => other.end());
      await other.query('SELECT 1');
      return other;
    },
    /** The payment that the quote is used by; null if it is unused. */
    usedBy: async ({ quoteId }: LockedQuote): Promise<string | null> => {
      const found = await pool.query<{ payment_id: string | null }>(
        'SELECT payment_id FROM locked_quotes WHERE id = $1',
        [uuidFromId(quoteId)],
      );
      return found.rows[0]!.payment_id;
    },
    expectNoPayment: async (partnerId: Id<'prt'>, mode: Mode = 'live') => {
      const { rows: found } = await pool.query(
        `SELECT (SELECT count(*)::int FROM payments WHERE partner_id = a.partner_id AND mode = a.mode) AS payments,
                (SELECT count(*)::int FROM open_payments WHERE partner_id = a.partner_id AND mode = a.mode) AS codes, a.held
           FROM accounts a WHERE partner_id = $1 AND mode = $2`,
        [uuidFromId(partnerId), mode],
      );
      expect(found[0]).toEqual({ payments: 0, codes: 0, held: 0n });
    },
  };
}
