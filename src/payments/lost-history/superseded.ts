import { uuidFromId } from '../../base/ids.ts';
import type { PaymentStops } from '../../controls/index.ts';
import { findValue, hasRow, type Queryable, readValue } from '../../db/postgres/index.ts';
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
  const keys = [uuidFromId(partnerId), mode, uuidFromId(paymentId)];
  const beganAt = await findValue<Date>(db, {
    name: 'find when the recovery began',
    text: 'SELECT began_at FROM incarnations WHERE opened_at IS NULL',
  });
  if (beganAt) {
    const isOlder = await hasRow(db, {
      name: 'find a payment of before the loss',
      text: `SELECT FROM payments p WHERE p.created_at <= $4 AND p.partner_id = $1 AND p.mode = $2 AND p.id = $3
                AND NOT EXISTS (SELECT FROM recovered_payments r WHERE r.payment_id = p.id)`,
      values: [...keys, beganAt],
    });
    if (isOlder) return 'perhaps';
  }
  const isSuperseded = await readValue<boolean>(db, {
    name: 'find supersession',
    text: 'SELECT payment_is_superseded($1, $2, $3)',
    values: keys,
  });
  return isSuperseded ? 'superseded' : 'no';
}
