import { parseId, uuidFromId } from '../../base/ids.ts';
import { type Queryable, readValues } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { searchPayments } from '../../payments/index.ts';
import { parseEventId } from '../delivery/envelope.ts';

/** So many payments of one order number are looked at, the newest ones. */
const maxPayments = 50;

/** The events that a partner means with the id of an event or of a payment, or with its own number of the order. */
export async function findEventsOf(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  text: string,
): Promise<bigint[]> {
  const eventId = parseEventId(text);
  if (eventId !== undefined) return [eventId];
  const paymentId = parseId('pay', text);
  const payments = paymentId
    ? [paymentId]
    : (
        await searchPayments(db, [{ partnerId, mode, externalId: text }], { limit: maxPayments })
      ).payments.map(payment => payment.paymentId);
  return readValues<bigint>(db, {
    text: `SELECT e.id FROM unnest($3::uuid[]) AS k (payment_id)
            CROSS JOIN LATERAL event_of_payment($1, $2, k.payment_id) AS e
            UNION ALL
           SELECT r.event_id FROM refunds r WHERE r.payment_id = ANY ($3) AND r.partner_id = $1 AND r.mode = $2`,
    values: [uuidFromId(partnerId), mode, payments.map(uuidFromId)],
  });
}
