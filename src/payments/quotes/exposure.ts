import { type Clock, instantOf } from '../../base/clock.ts';
import { uuidFromId } from '../../base/ids.ts';
import { type Queryable, readRow } from '../../db/postgres/index.ts';
import { pruneOlder } from '../../db/retention/index.ts';
import type { AccountKey } from '../../ledger/index.ts';

/** Quotes that are neither used nor expired: what they may cost, and how many they are. */
export interface Exposure {
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
