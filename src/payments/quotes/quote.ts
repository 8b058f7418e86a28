import { type Clock, instantOf } from '../../base/clock.ts';
import type { quoteErrors } from '../../base/errors.ts';
import { type Id, idFromUuid, parseId, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import type { AccountKey, Mode } from '../../ledger/index.ts';

/** A quote whose rate holds until a payment uses it, or until it expires. See docs/internals/quotes.md. */
export interface LockedQuote {
  quoteId: Id<'qte'>;
  amountKopecks: bigint;
  microUsdt: bigint;
  rateE4: bigint;
  /** The rate of partners that it was made from. */
  rateId: bigint;
  /** What was taken off that rate. */
  spreadBps: number;
  lockedAt: Date;
  expiresAt: Date;
}

/** Why a payment cannot have the quote that it names. */
export type QuoteRefusal = Exclude<keyof typeof quoteErrors, 'quote_limit_exceeded'>;

interface QuoteRow {
  id: string;
  mode: Mode;
  amount_kopecks: bigint;
  micro_usdt: bigint;
  rate_e4: bigint;
  rate_id: bigint;
  spread_bps: number;
  locked_at: Date;
  expires_at: Date;
}

const columns =
  'q.id, q.mode, q.amount_kopecks, q.micro_usdt, q.rate_e4, q.rate_id, q.spread_bps, q.locked_at, q.expires_at';

const toQuote = (row: QuoteRow): LockedQuote => ({
  quoteId: idFromUuid('qte', row.id),
  amountKopecks: row.amount_kopecks,
  microUsdt: row.micro_usdt,
  rateE4: row.rate_e4,
  rateId: row.rate_id,
  spreadBps: row.spread_bps,
  lockedAt: row.locked_at,
  expiresAt: row.expires_at,
});

/**
 * The quote that a payment of this account names, unless it cannot have it. `payments_open_quoted` decides the same again, in the
 * transaction that opens the payment; only the amount is left to that. Another partner's quote is as unknown as one that never was.
 */
export async function findQuote(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  text: string,
  now: Date,
): Promise<LockedQuote | QuoteRefusal> {
  const quoteId = parseId('qte', text);
  if (!quoteId) return 'quote_not_found';
  const { rows } = await db.query<QuoteRow & { is_unused: boolean }>({
    name: 'find quote',
    text: `SELECT ${columns}, EXISTS (SELECT FROM unused_quotes u WHERE u.id = q.id) AS is_unused
             FROM locked_quotes q WHERE q.id = $1 AND q.partner_id = $2`,
    values: [uuidFromId(quoteId), uuidFromId(partnerId)],
  });
  const [row] = rows;
  if (!row) return 'quote_not_found';
  if (row.mode !== mode) return 'quote_mode_mismatch';
  if (!row.is_unused) return 'quote_used';
  return row.expires_at <= now ? 'quote_expired' : toQuote(row);
}

/**
 * Before a request is refused because its quote has expired: an opening that began in time and still waits must not use it any more.
 * One that has used it but not committed is waited for.
 */
export async function endExpired(db: Queryable, { partnerId }: AccountKey, text: string): Promise<void> {
  await db.query({
    name: 'end expired quote',
    text: `UPDATE locked_quotes q SET expires_at = q.locked_at
            WHERE q.id = $1 AND q.partner_id = $2 AND q.expires_at > q.locked_at
              AND (q.payment_id IS NULL OR EXISTS (SELECT FROM payments p WHERE p.partner_id = q.partner_id AND p.mode = q.mode
                                                      AND p.id = q.payment_id AND p.rejected))`,
    values: [uuidFromId(parseId('qte', text)!), uuidFromId(partnerId)],
  });
}

/** The quote that a payment has used; used ones are kept for a year. */
export async function findQuoteOf(db: Queryable, paymentId: Id<'pay'>): Promise<LockedQuote | undefined> {
  const { rows } = await db.query<QuoteRow>({
    text: `SELECT ${columns} FROM locked_quotes q WHERE q.payment_id = $1`,
    values: [uuidFromId(paymentId)],
  });
  return rows[0] && toQuote(rows[0]);
}

/** What a payment of this account can still use, the ones that expire first at the top. Expired quotes are not read. */
export async function listUsableQuotes(
  db: Queryable,
  clock: Clock,
  { partnerId, mode }: AccountKey,
  limit: number,
): Promise<LockedQuote[]> {
  const { rows } = await db.query<QuoteRow>({
    text: `SELECT ${columns} FROM locked_quotes q
            WHERE q.expires_at > $1 AND q.partner_id = $2 AND q.mode = $3
              AND EXISTS (SELECT FROM unused_quotes u WHERE u.id = q.id)
            ORDER BY q.expires_at, q.id LIMIT $4`,
    values: [instantOf(clock), uuidFromId(partnerId), mode, limit],
  });
  return rows.map(toQuote);
}
