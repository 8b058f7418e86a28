import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import { pruneOlder } from '../../db/prune.ts';

/** Live quotes that are neither used nor expired: what they may cost, and how many they are. */
export interface Exposure {
  microUsdt: bigint;
  quotes: number;
}

/** Of one partner, or of all. */
export async function readExposure(db: Queryable, clock: Clock, partnerId?: Id<'prt'>): Promise<Exposure> {
  const { rows } = await db.query<Exposure>({
    text: `SELECT coalesce(sum(micro_usdt), 0)::bigint AS "microUsdt", count(*)::int AS quotes
             FROM unused_quotes WHERE expires_at > $1 AND mode = 'live' AND ($2::uuid IS NULL OR partner_id = $2)`,
    values: [instantOf(clock), partnerId === undefined ? null : uuidFromId(partnerId)],
  });
  return rows[0]!;
}

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
