import { idFromUuid } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/pool.ts';
import type { Mode } from '../../src/ledger/index.ts';
import type { OpenPayments } from './database.ts';

export interface BookedPayment {
  paymentId: string;
  partnerId: string;
  mode: Mode;
  status: 'processing' | 'succeeded' | 'failed' | 'rejected';
  key: string;
  qrcId: string;
  kopecks: number;
  microUsdt: number;
  createdMs: number;
  settledMs: number | null;
  /** Of its event. */
  eventMs: number | null;
  /** Of its row in `open_payments`. */
  dueMs: number | null;
  errorCode: string | null;
  orderId: string | null;
  /** Its rows in `open_payments`, and whether one of them waits for the gateway. */
  openRows: number;
  awaitingGateway: boolean;
  supportSince: string | null;
  events: number;
  eventId: string | null;
}

export interface BookedAccount {
  partnerId: string;
  mode: Mode;
  available: number;
  held: number;
  settled: number;
  /** The time of its last entry. */
  lastEntryMs: number | null;
}

export interface BookedAlarm {
  kind: string;
  paymentId: string;
  open: boolean;
}

/** What the database holds about the partners of this run. Amounts are small enough for plain numbers. */
export interface Books {
  payments: BookedPayment[];
  accounts: BookedAccount[];
  alarms: BookedAlarm[];
  open: OpenPayments;
}

const statement = `
  SELECT (SELECT coalesce(json_agg(row_to_json(p) ORDER BY p."paymentId"), '[]') FROM (
            SELECT p.id AS "paymentId", p.partner_id AS "partnerId", p.mode, p.status, p.idempotency_key AS key,
                   p.qrc_id AS "qrcId", p.amount_kopecks AS kopecks, p.micro_usdt AS "microUsdt",
                   extract(epoch FROM p.created_at) * 1000 AS "createdMs",
                   extract(epoch FROM p.settled_at) * 1000 AS "settledMs", e.at AS "eventMs", o.due AS "dueMs", p.error_code AS "errorCode", p.gateway_order_id AS "orderId",
                   o.rows AS "openRows", coalesce(o.awaiting, false) AS "awaitingGateway",
                   o.since AS "supportSince",
                   e.count AS events, e.id AS "eventId"
              FROM payments p, LATERAL (
                   SELECT count(*), extract(epoch FROM max(e.at)) * 1000 AS at, max(e.id)::text AS id FROM events e
                    WHERE e.partner_id = p.partner_id AND e.mode = p.mode AND e.payment_id = p.id) AS e, LATERAL (
                   SELECT count(*) AS rows, bool_or(awaiting_gateway) AS awaiting, min(support_since) AS since,
                          extract(epoch FROM max(next_at)) * 1000 AS due
                     FROM open_payments o
                    WHERE o.partner_id = p.partner_id AND o.mode = p.mode AND o.payment_id = p.id) AS o
             WHERE p.partner_id = ANY ($1)) AS p) AS payments,
         (SELECT json_agg(row_to_json(a)) FROM (
            SELECT partner_id AS "partnerId", mode, available, held, settled,
                   extract(epoch FROM last_entry_at) * 1000 AS "lastEntryMs" FROM accounts
             WHERE partner_id = ANY ($1)) AS a) AS accounts,
         (SELECT coalesce(json_agg(row_to_json(a)), '[]') FROM (
            SELECT kind, subject AS "paymentId", cleared_at IS NULL AS open FROM alarms) AS a) AS alarms,
         (SELECT row_to_json(o) FROM (
            SELECT extract(epoch FROM min(next_at)) * 1000 AS "dueMs",
                   coalesce(array_agg(lease_holder) FILTER (WHERE lease_holder IS NOT NULL), '{}') AS "leaseHolders"
              FROM open_payments) AS o) AS open`;

export async function readBooks(pool: Pool, partnerUuids: string[]): Promise<Books> {
  const { rows } = await pool.query<Books>({ name: 'books', text: statement, values: [partnerUuids] });
  const books = rows[0]!;
  for (const payment of books.payments) {
    payment.paymentId = idFromUuid('pay', payment.paymentId);
    payment.partnerId = idFromUuid('prt', payment.partnerId);
  }
  for (const account of books.accounts) account.partnerId = idFromUuid('prt', account.partnerId);
  return books;
}
