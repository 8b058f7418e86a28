import type { Clock } from '../../base/clock.ts';
import { idFromUuid, minUuidAt, parseId, timeOfId } from '../../base/ids.ts';
import { type Queryable, readRow } from '../../db/postgres/index.ts';
import type { Gateway, ListedRefund } from '../../gateway/index.ts';
import type { Payment } from '../payment.ts';
import { readRefundList, refundListIsGone } from '../refunds/refunded.ts';

/** A younger refund may not be read yet. */
const youngMs = 600_000;

/**
 * The payments of the period whose refunds do not add up to the same sum on both sides. Refunds from before the service knew
 * of them do not count: operators decide about these.
 */
export async function findRefundDifferences(
  { pool, clock, gateway }: { pool: Queryable; clock: Clock; gateway: Pick<Gateway, 'listRefunds'> },
  period: Period,
  signal: AbortSignal | undefined,
): Promise<Difference[]> {
  const until = new Date(clock.nowMs() - youngMs);
  const service = await readRow<{ since: Date; had_list: boolean }>(pool, {
    text: 'SELECT refunds_from AS since, refunds_read_to IS NOT NULL AS had_list FROM service',
  });
  const since = new Date(Math.max(period.from.getTime(), service.since.getTime()));
  const there = await sumListed(gateway, period, { since, until }, signal);
  if (!there && service.had_list) throw refundListIsGone();
  if (!there) return [];
  const { rows } = await pool.query<{ payment_id: string; partner_id: string; kopecks: bigint }>({
    text: `SELECT payment_id, partner_id, sum(amount_kopecks)::bigint AS kopecks FROM refunds
            WHERE mode = 'live' AND payment_id >= $1 AND payment_id < $2 AND refunded_at >= $3 AND refunded_at < $4 GROUP BY 1, 2`,
    values: [minUuidAt(period.from.getTime()), minUuidAt(period.until.getTime()), since, until],
  });
  const here = new Map(rows.map(row => [idFromUuid('pay', row.payment_id) as string, row]));
  const differing = [...new Set([...here.keys(), ...there.keys()])].filter(
    id => (here.get(id)?.kopecks ?? 0n) !== (there.get(id) ?? 0n),
  );
  return differing.sort().map(id => {
    const row = here.get(id);
    return {
      kind: 'refunds_differ',
      paymentId: id,
      partnerId: row ? idFromUuid('prt', row.partner_id) : null,
      status: row ? 'succeeded' : null,
      amountKopecks: row?.kopecks ?? 0n,
      orderId: null,
      orderState: null,
      orderKopecks: there.get(id) ?? 0n,
    };
  });
}

/** By payment; undefined if the gateway has no such list. */
async function sumListed(
  gateway: Pick<Gateway, 'listRefunds'>,
  { from, until }: Period,
  counted: { since: Date; until: Date },
  signal: AbortSignal | undefined,
): Promise<Map<string, bigint> | undefined> {
  const counts = ({ paymentId, createdAt, isRevoked }: ListedRefund) => {
    const id = parseId('pay', paymentId);
    const isOfPeriod = id && timeOfId(id) >= from.getTime() && timeOfId(id) < until.getTime();
    return isOfPeriod && !isRevoked && createdAt >= counted.since && createdAt < counted.until;
  };
  const sums = new Map<string, bigint>();
  for await (const fresh of readRefundList(gateway, counted.since, signal)) {
    if (!fresh) return undefined;
    for (const { paymentId, amountKopecks } of fresh.filter(counts))
      sums.set(paymentId, (sums.get(paymentId) ?? 0n) + amountKopecks);
  }
  return sums;
}

/** Live payments created in [from, until). */
export interface Period {
  from: Date;
  until: Date;
}

export type DifferenceKind =
  | 'paid_there_not_here'
  | 'here_not_there'
  | 'amounts_differ'
  | 'still_open'
  /** The amounts are then what was refunded, here and there. */
  | 'refunds_differ';

export interface Difference {
  kind: DifferenceKind;
  /** Our id, or the gateway's text when there is no such payment here. */
  paymentId: string;
  partnerId: string | null;
  status: Payment['status'] | null;
  amountKopecks: bigint | null;
  orderId: string | null;
  orderState: string | null;
  orderKopecks: bigint | null;
}
