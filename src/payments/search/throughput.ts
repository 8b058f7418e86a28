import type { Clock } from '../../base/clock.ts';
import { idFromUuid, minUuidAt, timeOfId, uuidFromId } from '../../base/ids.ts';
import { type Queryable, readRow } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';

const minuteMs = 60_000;
/** A payment's id is created when its request arrives, the payment a little later. */
const maxIdAgeMs = minuteMs;
/** A minute that has been over for this long gets no more payments. */
const completeAfterMs = 2 * minuteMs;
const maxCachedMinutes = 2_000;

/** Times are counted in buckets of 5%, so that minutes can be added up: exact enough for a chart, and small. */
const step = Math.log(1.05);
const msOfBucket = (bucket: number) => Math.round(Math.exp((bucket + 0.5) * step) - 1);

/**
 * Counts payments minute by minute. A minute that is over and whose payments are all finished never changes: it is read
 * once and cached, so that a page which refreshes every few seconds reads the last minutes and not the whole hour.
 */
export function createThroughputReader(db: Queryable, clock: Clock) {
  const cached = new Map<number, Minute>();

  /** The minutes, oldest first, without gaps; the last one is the current minute. */
  async function read(wanted: number) {
    const nowMs = clock.nowMs();
    const last = Math.floor(nowMs / minuteMs) * minuteMs;
    const starts = Array.from({ length: wanted }, (_, index) => last - (wanted - 1 - index) * minuteMs);
    const missing = starts.filter(start => !cached.has(start));
    const found = new Map<number, Minute>();
    for (const range of rangesOf(missing)) {
      for (const [start, minute] of await readMinutes(db, range)) {
        found.set(start, minute);
        const areAllFinished = minute.created === minute.succeeded + minute.failed;
        // Cached range by range: if reading a busy hour fails half-way, the next read continues from here.
        if (areAllFinished && start + minuteMs + completeAfterMs <= nowMs) cached.set(start, minute);
      }
    }
    const minutes = starts.map(start => cached.get(start) ?? found.get(start)!);
    for (const start of cached.keys()) {
      if (cached.size <= maxCachedMinutes) break;
      cached.delete(start);
    }
    const times = sumTimes(minutes);
    return { minutes, settleP50Ms: percentile(times, 0.5), settleP99Ms: percentile(times, 0.99) };
  }
  return { read };
}

type Minute = ReturnType<typeof emptyMinute>;

/** Live payments of one minute, by their creation. */
const emptyMinute = (start: number) => ({
  at: new Date(start),
  created: 0,
  succeeded: 0,
  failed: 0,
  /** How many payments took how long to finish, by bucket. */
  times: new Map<number, number>(),
});

interface Range {
  fromMs: number;
  untilMs: number;
}

/** Up to this long a row of minutes is one query; an old minute with an open payment is a query of its own. */
const rangeMs = 5 * minuteMs;

function rangesOf(starts: number[]): Range[] {
  const ranges: Range[] = [];
  for (const fromMs of starts) {
    const last = ranges.at(-1);
    if (last?.untilMs === fromMs && fromMs - last.fromMs < rangeMs) last.untilMs += minuteMs;
    else ranges.push({ fromMs, untilMs: fromMs + minuteMs });
  }
  return ranges;
}

async function readMinutes(db: Queryable, { fromMs, untilMs }: Range): Promise<Map<number, Minute>> {
  // In float8, which is thirty times as fast here as numeric.
  const { rows } = await db.query<{ minute: Date; status: string; bucket: number | null; count: number }>({
    name: 'read throughput',
    text: `SELECT date_trunc('minute', created_at) AS minute, status,
                  floor(ln(greatest(0, extract(epoch FROM settled_at - created_at)::float8 * 1000) + 1) / $5::float8)::int AS bucket,
                  count(*)::int AS count
             FROM payments
            WHERE mode = 'live' AND NOT rejected AND id >= $1 AND id < $2 AND created_at >= $3 AND created_at < $4
            GROUP BY 1, 2, 3`,
    values: [minUuidAt(fromMs - maxIdAgeMs), minUuidAt(untilMs), new Date(fromMs), new Date(untilMs), step],
  });
  const minutes = new Map<number, Minute>();
  for (let start = fromMs; start < untilMs; start += minuteMs) minutes.set(start, emptyMinute(start));
  for (const { minute, status, bucket, count } of rows) {
    const entry = minutes.get(minute.getTime())!;
    entry.created += count;
    if (status === 'succeeded') entry.succeeded += count;
    if (status === 'failed') entry.failed += count;
    if (bucket !== null) entry.times.set(bucket, (entry.times.get(bucket) ?? 0) + count);
  }
  return minutes;
}

function sumTimes(minutes: Minute[]): Map<number, number> {
  const sum = new Map<number, number>();
  for (const { times } of minutes)
    for (const [bucket, count] of times) sum.set(bucket, (sum.get(bucket) ?? 0) + count);
  return sum;
}

function percentile(times: Map<number, number>, share: number): number | null {
  const total = [...times.values()].reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of [...times].sort(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= total * share) return msOfBucket(bucket);
  }
  return null;
}

/** Live payments with an unknown outcome: in test mode a review is only simulated. The smallest id is the oldest payment. */
export async function countInReview(db: Queryable) {
  const { count, oldest, overdue } = await readRow<{ count: number; oldest: string | null; overdue: number }>(
    db,
    {
      text: `SELECT count(*)::int AS count, (array_agg(payment_id ORDER BY payment_id))[1] AS oldest,
                  count(support_since)::int AS overdue
             FROM open_payments WHERE NOT awaiting_gateway AND mode = 'live'`,
    },
  );
  return { count, oldestAt: oldest ? new Date(timeOfId(idFromUuid('pay', oldest))) : null, overdue };
}

/** The payments of a partner and mode that were created on one day. */
export interface PaymentDay {
  created: number;
  succeeded: number;
  failed: number;
  /** The sum of those that succeeded. */
  kopecks: bigint;
  microUsdt: bigint;
}

/** As `maxIdAgeMs`, and some more: a day costs no more for it. */
const maxIdAgeOfDayMs = 120_000;

/** Reads a range of the primary key: some 100 000 payments in a tenth of a second. */
export const readPaymentDay = (
  db: Queryable,
  { partnerId, mode }: AccountKey,
  { start, end }: { start: Date; end: Date },
) =>
  readRow<PaymentDay>(db, {
    name: 'read a day of payments',
    text: `SELECT count(*)::int AS created, count(*) FILTER (WHERE status = 'succeeded')::int AS succeeded,
                  count(*) FILTER (WHERE status = 'failed')::int AS failed,
                  coalesce(sum(amount_kopecks) FILTER (WHERE status = 'succeeded'), 0)::bigint AS kopecks,
                  coalesce(sum(micro_usdt) FILTER (WHERE status = 'succeeded'), 0)::bigint AS "microUsdt"
             FROM payments_between($1, $2, $3, $4)
            WHERE created_at >= $5 AND created_at < $6 AND NOT rejected`,
    values: [
      uuidFromId(partnerId),
      mode,
      minUuidAt(start.getTime() - maxIdAgeOfDayMs),
      minUuidAt(end.getTime()),
      start,
      end,
    ],
  });
