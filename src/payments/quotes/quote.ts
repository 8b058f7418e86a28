import { type Clock, instantOf } from '../../base/clock.ts';
import type { quoteErrors } from '../../base/errors.ts';
import { type Id, idFromUuid, parseId, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';

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

type QuoteRow = Omit<LockedQuote, 'quoteId'> & { id: string };

const columns = `q.id, q.amount_kopecks AS "amountKopecks", q.micro_usdt AS "microUsdt", q.rate_e4 AS "rateE4",
  q.rate_id AS "rateId", q.spread_bps AS "spreadBps", q.locked_at AS "lockedAt", q.expires_at AS "expiresAt"`;

const toQuote = ({ id, ...terms }: QuoteRow): LockedQuote => ({ quoteId: idFromUuid('qte', id), ...terms });

/** A quote of this partner. Whether a payment can have it, `payment_refusal` says. */
export async function findQuote(
  db: Queryable,
  { partnerId }: AccountKey,
  text: string,
): Promise<LockedQuote | undefined> {
  const quoteId = parseId('qte', text);
  if (!quoteId) return undefined;
  const { rows } = await db.query<QuoteRow>({
    name: 'find quote',
    text: `SELECT ${columns} FROM locked_quotes q WHERE q.id = $1 AND q.partner_id = $2`,
    values: [uuidFromId(quoteId), uuidFromId(partnerId)],
  });
  return rows[0] && toQuote(rows[0]);
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
