import { type Clock, instantOf } from '../base/clock.ts';
import { formatRate, parseRate } from '../base/money.ts';
import { sharedRead } from '../db/batching/index.ts';
import { findRow, findValue, type Queryable, readRows, readValue } from '../db/postgres/index.ts';
import type { NewRate, Part } from './combine.ts';

export interface CurrentRate {
  /** Stored with a payment, so that its rate can be explained later. */
  rateId: bigint;
  /** What a partner gets for 1 USDT. */
  rateE4: bigint;
  midE4: bigint;
  asOf: Date;
}

export interface ExplainedRate extends CurrentRate {
  createdAt: Date;
  spreadBps: number;
  parts: Part[];
}

export async function storeRate(db: Queryable, clock: Clock, rate: NewRate): Promise<CurrentRate> {
  const { midE4, rateE4, spreadBps, parts } = rate;
  const asOf = new Date(rate.asOfMs);
  const rateId = await readValue<bigint>(db, {
    text: `INSERT INTO rates (as_of, created_at, mid_e4, spread_bps, rate_e4, parts)
           VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`,
    values: [asOf, instantOf(clock), midE4, spreadBps, rateE4, JSON.stringify(parts.map(toStored))],
  });
  return { rateId, rateE4, midE4, asOf };
}

/** The newest, however old: check `isStale` before use. */
export const readCurrentRate = sharedRead<void, CurrentRate | undefined>(async (db, callers) => {
  const { rows } = await db.query<CurrentRate>({
    name: 'read current rate',
    text: `SELECT id AS "rateId", rate_e4 AS "rateE4", mid_e4 AS "midE4", as_of AS "asOf"
             FROM rates ORDER BY id DESC LIMIT 1`,
  });
  return callers.map(() => rows[0]);
});

export type RateMemo = ReturnType<typeof createRateMemo>;

/** The newest rate as this process last read it. Who debits at it must find out whether it still is the newest. */
export function createRateMemo(db: Queryable) {
  let rate: CurrentRate | undefined;
  return {
    read: async () => {
      rate ??= await readCurrentRate(db);
      return rate;
    },
    /** The next read asks the database. */
    forget: () => {
      rate = undefined;
    },
  };
}

/** The rates since then, oldest first. */
export const listRates = (db: Queryable, since: Date) =>
  readRows<Pick<CurrentRate, 'rateE4' | 'asOf'>>(db, {
    text: `SELECT rate_e4 AS "rateE4", as_of AS "asOf"
             FROM (SELECT * FROM rates ORDER BY id DESC LIMIT ${maxRatesListed}) r WHERE as_of >= $1 ORDER BY id`,
    values: [since],
  });

/** A day of refreshes every ten seconds: the table has no index by time. */
const maxRatesListed = 8_640;

/** The market rate before this one, without spread. */
export const readMidBefore = (db: Queryable, rateId: bigint) =>
  findValue<bigint>(db, {
    text: 'SELECT mid_e4 FROM rates WHERE id < $1 ORDER BY id DESC LIMIT 1',
    values: [rateId],
  });

const hourMs = 3_600_000;

/** The rates of the hour before a time, newest first; of the hour before a rate without that rate. */
export async function listHourBefore(db: Queryable, until: Date, rateId: bigint | null = null) {
  const rows = await readRows<{ midE4: bigint; parts: StoredPart[] }>(db, {
    text: `SELECT mid_e4 AS "midE4", parts FROM rates
            WHERE created_at >= $1 AND ($2::bigint IS NULL OR id < $2) ORDER BY created_at DESC, id DESC`,
    values: [new Date(until.getTime() - hourMs), rateId],
  });
  return rows.map(({ midE4, parts }) => ({ midE4, parts: parts.map(fromStored) }));
}

const maxPoints = 400;

/**
 * The rates between two times, in no more points than a chart can show: at each step, the rate in force. One index
 * lookup per point, however many rates there are.
 */
export async function chartRates(db: Queryable, since: Date, until: Date) {
  const oldest = await readValue<Date | null>(db, {
    text: 'SELECT min(created_at) FROM rates WHERE created_at >= $1',
    values: [since],
  });
  // A new service has all of its rates in a small part of the requested time.
  const from = oldest ?? since;
  const stepMs = Math.max(1, Math.ceil((until.getTime() - from.getTime()) / (maxPoints - 1)));
  return readRows<{ at: Date; rateE4: bigint; midE4: bigint }>(db, {
    text: `SELECT DISTINCT ON (r.id) r.created_at AS at, r.rate_e4 AS "rateE4", r.mid_e4 AS "midE4"
             FROM generate_series($1::timestamptz, $2::timestamptz + $3 * interval '1 ms', $3 * interval '1 ms') AS t
            CROSS JOIN LATERAL (SELECT * FROM rates
                                 WHERE created_at <= least(t, $2) AND created_at >= $1
                                 ORDER BY created_at DESC, id DESC LIMIT 1) AS r
            ORDER BY r.id`,
    values: [from, until, stepMs],
  });
}

export async function explainRate(db: Queryable, rateId: bigint): Promise<ExplainedRate | undefined> {
  const rate = await findRow<Omit<ExplainedRate, 'parts'> & { parts: StoredPart[] }>(db, {
    text: `SELECT id AS "rateId", rate_e4 AS "rateE4", mid_e4 AS "midE4", as_of AS "asOf",
                  created_at AS "createdAt", spread_bps AS "spreadBps", parts
             FROM rates WHERE id = $1`,
    values: [rateId],
  });
  return rate && { ...rate, parts: rate.parts.map(fromStored) };
}

export const isStale = ({ asOf }: Pick<CurrentRate, 'asOf'>, clock: Clock, maxAgeSec: number) =>
  clock.nowMs() - asOf.getTime() > maxAgeSec * 1_000;

/** As stored in JSON: decimals and instants are strings. */
type StoredPart =
  | { source: string; outcome: 'used' | 'stale' | 'outlier'; mid: string; as_of: string }
  | { source: string; outcome: 'failed'; reason: string };

function toStored(part: Part): StoredPart {
  if (part.outcome === 'failed') return part;
  const { source, outcome, midE4, asOfMs } = part;
  return { source, outcome, mid: formatRate(midE4), as_of: new Date(asOfMs).toISOString() };
}

function fromStored(stored: StoredPart): Part {
  if (stored.outcome === 'failed') return stored;
  const { source, outcome, mid, as_of } = stored;
  return { source, outcome, midE4: parseRate(mid)!, asOfMs: Date.parse(as_of) };
}
