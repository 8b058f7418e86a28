import { type Id, idFromUuid } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { Payment } from '../payment.ts';

/** A payment that was rebuilt from an order of the gateway. */
export interface RecoveredPayment {
  paymentId: Id<'pay'>;
  partner: string;
  amountKopecks: bigint;
  status: Payment['status'];
  recoveredAt: Date;
}

/** The newest first. */
export async function listRecovered(db: Queryable, limit: number): Promise<RecoveredPayment[]> {
  const { rows } = await db.query<Omit<RecoveredPayment, 'paymentId'> & { id: string }>({
    text: `SELECT p.id, s.name AS partner, p.amount_kopecks AS "amountKopecks", p.status, r.recovered_at AS "recoveredAt"
             FROM (SELECT * FROM recovered_payments ORDER BY incarnation DESC, payment_id DESC LIMIT $1) AS r
             JOIN partners s ON s.id = r.partner_id
             CROSS JOIN LATERAL payment_anywhere(r.partner_id, r.mode, r.payment_id) AS p
            ORDER BY r.incarnation DESC, r.payment_id DESC`,
    values: [limit],
  });
  return rows.map(({ id, ...rest }) => ({ paymentId: idFromUuid('pay', id), ...rest }));
}
