import { minUuidAt, uuidFromId } from '../../base/ids.ts';
import { type Queryable, readRow } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';

/** The payments of a partner and mode that were created on one UTC day. */
export interface PaymentDay {
  created: number;
  succeeded: number;
  failed: number;
  /** The sum of those that succeeded. */
  kopecks: bigint;
  microUsdt: bigint;
}

const dayMs = 86_400_000;
/** A payment's id is created when its request arrives, the payment a little later. */
const maxIdAgeMs = 120_000;

/** Reads a range of the primary key: some 100 000 payments in a tenth of a second. */
export const readPaymentDay = (db: Queryable, { partnerId, mode }: AccountKey, startMs: number) =>
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
      minUuidAt(startMs - maxIdAgeMs),
      minUuidAt(startMs + dayMs),
      new Date(startMs),
      new Date(startMs + dayMs),
    ],
  });
