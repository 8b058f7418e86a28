import { type Id, uuidFromId } from '../../base/ids.ts';
import { hasRow, type Queryable, readRows, withIds } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';

/** What never changes of a payment once it has ended, beside its entries. */
export interface PaymentTerms {
  paymentId: Id<'pay'>;
  externalId: string | null;
  recipient: string;
  amountKopecks: bigint;
  rateE4: bigint;
  /** An attempt that the payment gateway refused before acceptance. */
  rejected: boolean;
  createdAt: Date;
}

const toTerms = withIds<PaymentTerms>({ paymentId: 'pay' });

/** By their ids, rejected attempts included. One that is missing has left the archive. */
export async function readPaymentTerms(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  paymentIds: Id<'pay'>[],
): Promise<Map<Id<'pay'>, PaymentTerms>> {
  const rows = await readRows(db, {
    text: `SELECT p.id AS "paymentId", p.external_id AS "externalId", p.recipient, p.amount_kopecks AS "amountKopecks",
                  p.rate_e4 AS "rateE4", p.rejected, p.created_at AS "createdAt"
             FROM payments_anywhere($1, $2, $3) AS p`,
    values: [uuidFromId(partnerId), mode, paymentIds.map(uuidFromId)],
  });
  return new Map(rows.map(toTerms).map(terms => [terms.paymentId, terms]));
}

/**
 * Whether a month that a time touches has left the archive. The id of a payment is made before its hold: the month of the day before
 * counts.
 */
export const hasLeftArchive = (db: Queryable, { start, end }: { start: Date; end: Date }) =>
  hasRow(db, {
    text: `SELECT FROM archived_months
            WHERE dropped_at IS NOT NULL AND month < $2::timestamptz AT TIME ZONE 'UTC'
              AND month + interval '1 month 1 day' > $1::timestamptz AT TIME ZONE 'UTC'`,
    values: [start, end],
  });
