import { endAlarms } from '../alarms/index.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { type Desk, recordChange } from '../db/audit.ts';
import { type Queryable, transaction } from '../db/pool.ts';
import { type Payment, type PaymentRow, toPayment } from './payment.ts';
import { finishAll } from './store.ts';

export interface WatchedPayment extends Payment {
  /** When it will be looked at next; null when it is finished. */
  nextLookAt: Date | null;
  supportSince: Date | null;
  /** A process is paying or asking about it at this moment. */
  isUnderWay: boolean;
}

/** Whoever's it is. The key leads with the partner, so it is asked for once per partner rather than by a scan of all. */
export async function findAnywhere(db: Queryable, paymentId: Id<'pay'>): Promise<WatchedPayment | undefined> {
  const { rows } = await db.query<
    PaymentRow & { next_at: Date | null; support_since: Date | null; owner: number | null }
  >({
    text: `SELECT p.*, o.next_at, o.support_since, o.owner
             FROM partners r
            CROSS JOIN unnest(enum_range(NULL::mode)) AS m (mode)
            CROSS JOIN LATERAL (SELECT * FROM payments p
                                 WHERE p.partner_id = r.id AND p.mode = m.mode AND p.id = $1 OFFSET 0) AS p
             LEFT JOIN open_payments o ON o.partner_id = p.partner_id AND o.mode = p.mode AND o.payment_id = p.id`,
    values: [uuidFromId(paymentId)],
  });
  const [row] = rows;
  return (
    row && {
      ...toPayment(row),
      nextLookAt: row.next_at,
      supportSince: row.support_since,
      isUnderWay: row.owner !== null,
    }
  );
}

export type ResolvedByOperator =
  | { outcome: 'resolved' }
  | { outcome: 'no_payment' | 'under_way' }
  | { outcome: 'already_ended'; status: Payment['status'] };

/** An operator's word ends a payment that the gateway gives no final answer about; money moves as if it had. */
export function resolvePayment(
  desk: Desk,
  paymentId: Id<'pay'>,
  { outcome, reason }: { outcome: 'succeeded' | 'failed'; reason: string },
): Promise<ResolvedByOperator> {
  return transaction(desk.pool, async tx => {
    const payment = await findAnywhere(tx, paymentId);
    if (!payment) return { outcome: 'no_payment' };
    const { partnerId, mode, status, statusDetail } = payment;
    // Its order may be on its way to the bank side just now, which would pay what was returned here.
    if (payment.isUnderWay && status === 'processing') return { outcome: 'under_way' };
    const ending = outcome === 'failed' ? ({ outcome, code: 'gateway_declined' } as const) : { outcome };
    const [result] = await finishAll(tx, desk.clock, [{ partnerId, mode, paymentId, ...ending }]);
    if (!result!.changed) return { outcome: 'already_ended', status: result!.standing };
    await endAlarms(tx, desk, paymentId);
    await recordChange(tx, desk, {
      action: 'payment.resolve',
      subject: paymentId,
      before: { status, statusDetail },
      after: { status: outcome, reason },
    });
    return { outcome: 'resolved' };
  });
}
