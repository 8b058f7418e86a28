import type { DatabaseGauge } from '../telemetry/index.ts';

/** The first 48 bits of a payment's id are the milliseconds of its creation. */
const createdSec = (id: string) =>
  `('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0`;

export const paymentGauges: DatabaseGauge[] = [
  {
    name: 'kopeck_payments_unfinished',
    help: 'Unfinished payments by state, without the simulated reviews of test payments',
    labels: ['state'],
    sql: `SELECT ARRAY[s.state], count(o.state)
            FROM unnest(ARRAY['with_support', 'awaiting_gateway', 'manual_review']) AS s (state)
            LEFT JOIN (SELECT CASE WHEN support_since IS NOT NULL THEN 'with_support'
                                   WHEN awaiting_gateway THEN 'awaiting_gateway' ELSE 'manual_review' END AS state
                         FROM open_payments WHERE mode = 'live' OR awaiting_gateway) AS o USING (state)
           GROUP BY s.state`,
  },
  {
    name: 'kopeck_payment_oldest_unfinished_seconds',
    help: 'Age of the oldest unfinished payment; 0 if there is none',
    labels: ['mode'],
    sql: `SELECT ARRAY[m::text], greatest(0, extract(epoch FROM $1::timestamptz) - coalesce(min(${createdSec('o.payment_id')}),
                                                             extract(epoch FROM $1::timestamptz)))
            FROM unnest(enum_range(NULL::mode)) AS m LEFT JOIN open_payments o ON o.mode = m GROUP BY m`,
  },
  {
    name: 'kopeck_quotes_locked_usdt',
    help: 'Live quotes whose rate is locked, neither used nor expired',
    labels: [],
    sql: `SELECT ARRAY[]::text[], coalesce(sum(q.micro_usdt), 0) / 1e6
            FROM unused_quotes q WHERE q.expires_at > $1::timestamptz AND q.mode = 'live'`,
  },
  {
    name: 'kopeck_reconciliation_age_seconds',
    help: 'Time since a reconciliation with the payment gateway was last completed',
    labels: [],
    sql: `SELECT ARRAY[]::text[], extract(epoch FROM $1::timestamptz - r.finished_at)
            FROM (SELECT finished_at FROM reconciliations WHERE finished_at IS NOT NULL ORDER BY id DESC LIMIT 1) AS r`,
  },
];
