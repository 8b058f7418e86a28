import { uuidFromId } from '../../base/ids.ts';
import type { PaymentStops } from '../../controls/index.ts';
import type { Queryable } from '../../db/pool.ts';
import type { AccountKey } from '../../ledger/index.ts';
import type { Payment } from '../payment.ts';

/**
 * Whether a lost history has undone a payment that was under way at the moment to which the database went back. It has if one of
 * its orders has the same key, which only an undone payment leaves free. Then the payment is undone again, and the order rebuilt.
 * While the orders are being listed it is not known, unless the payment was itself rebuilt from its order.
 */
export async function findSupersession(
  db: Queryable,
  { partnerId, mode, paymentId }: AccountKey & Pick<Payment, 'paymentId'>,
  { isRecovering, hasStrayOrders }: PaymentStops,
): Promise<'superseded' | 'perhaps' | 'no'> {
  if (mode === 'test' || !(isRecovering || hasStrayOrders)) return 'no';
  const { rows } = await db.query<{ superseded: boolean; perhaps: boolean }>({
    name: 'find supersession',
    text: `SELECT payment_is_superseded($1, $2, $3) AS superseded,
                  EXISTS (SELECT FROM incarnations i, payments p
                           WHERE i.opened_at IS NULL AND p.created_at <= i.began_at
                             AND p.partner_id = $1 AND p.mode = $2 AND p.id = $3
                             AND NOT EXISTS (SELECT FROM recovered_payments r WHERE r.payment_id = p.id)) AS perhaps`,
    values: [uuidFromId(partnerId), mode, uuidFromId(paymentId)],
  });
  const { superseded, perhaps } = rows[0]!;
  if (perhaps) return 'perhaps';
  return superseded ? 'superseded' : 'no';
}
