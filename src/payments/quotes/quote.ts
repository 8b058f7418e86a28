import { type Clock, instantOf } from '../../base/clock.ts';
import type { quoteErrors } from '../../base/errors.ts';
import { type Id, parseId, uuidFromId } from '../../base/ids.ts';
import { findRow, type Queryable, readRow, readRows, withIds } from '../../db/postgres/index.ts';
import { pruneOlder } from '../../db/retention/index.ts';
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

const columns = `q.id AS "quoteId", q.amount_kopecks AS "amountKopecks", q.micro_usdt AS "microUsdt", q.rate_e4 AS "rateE4",
  q.rate_id AS "rateId", q.spread_bps AS "spreadBps", q.locked_at AS "lockedAt", q.expires_at AS "expiresAt"`;

const toQuote = withIds<LockedQuote>({ quoteId: 'qte' });

/** A quote of this partner. Whether a payment can have it, `payment_refusal` says. */
export async function findQuote(
  db: Queryable,
  { partnerId }: AccountKey,
  text: string,
): Promise<LockedQuote | undefined> {
  const quoteId = parseId('qte', text);
  if (!quoteId) return undefined;
  const row = await findRow(db, {
    name: 'find quote',
    text: `SELECT ${columns} FROM locked_quotes q WHERE q.id = $1 AND q.partner_id = $2`,
    values: [uuidFromId(quoteId), uuidFromId(partnerId)],
  });
  return row && toQuote(row);
}

/** The quote that a payment has used; used ones are kept for a year. */
export async function findQuoteOf(db: Queryable, paymentId: Id<'pay'>): Promise<LockedQuote | undefined> {
  const row = await findRow(db, {
    text: `SELECT ${columns} FROM locked_quotes q WHERE q.payment_id = $1`,
    values: [uuidFromId(paymentId)],
  });
  return row && toQuote(row);
}

/** What a payment of this account can still use, the ones that expire first at the top. Expired quotes are not read. */
export async function listUsableQuotes(
  db: Queryable,
  clock: Clock,
  { partnerId, mode }: AccountKey,
  limit: number,
): Promise<LockedQuote[]> {
  const rows = await readRows(db, {
    text: `SELECT ${columns} FROM locked_quotes q
            WHERE q.expires_at > $1 AND q.partner_id = $2 AND q.mode = $3
              AND EXISTS (SELECT FROM unused_quotes u WHERE u.id = q.id)
            ORDER BY q.expires_at, q.id LIMIT $4`,
    values: [instantOf(clock), uuidFromId(partnerId), mode, limit],
  });
  return rows.map(toQuote);
}

/** Quotes that are neither used nor expired: what they may cost, and how many they are. */
interface Exposure {
  microUsdt: bigint;
  quotes: number;
}

/** Reads the exposure to one partner and mode, or to all in live mode. */
export const readExposure = (db: Queryable, clock: Clock, account?: AccountKey) =>
  readRow<Exposure>(db, {
    text: `SELECT coalesce(sum(micro_usdt), 0)::bigint AS "microUsdt", count(*)::int AS quotes
             FROM unused_quotes WHERE expires_at > $1 AND mode = $3 AND ($2::uuid IS NULL OR partner_id = $2)`,
    values: [instantOf(clock), account ? uuidFromId(account.partnerId) : null, account?.mode ?? 'live'],
  });

const hourInDays = 1 / 24;
/** As long as anybody asks why a payment has its rate. */
const usedDays = 366;

export async function pruneQuotes(db: Queryable, clock: Clock): Promise<number> {
  const quotes = { table: 'locked_quotes', since: 'expires_at' };
  const unused = await pruneOlder(db, clock, {
    ...quotes,
    keptDays: hourInDays,
    where: 'payment_id IS NULL',
  });
  return unused + (await pruneOlder(db, clock, { ...quotes, keptDays: usedDays }));
}
