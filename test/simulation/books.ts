import { idFromUuid } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import type { Mode } from '../../src/ledger/index.ts';
import type { Account } from './accounts.ts';
import type { OpenPayments } from './database.ts';
import type { World } from './world.ts';

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

interface Parts {
  partners: Account[];
  /** Micro-USDT by partner: credited besides, and returned of their payments. */
  topUps: Map<string, number>;
  refunded: Map<string, number>;
  /** The bank side has the orders of these, so limits do not hold them up. */
  rebuilt: Set<string>;
}

/** Balances and limits, compared with the payments. */
export function checkBalances(
  { violate }: World,
  { accounts, payments }: Books,
  { partners, topUps, refunded, rebuilt }: Parts,
): void {
  for (const partner of partners)
    for (const mode of ['live', 'test'] as const) {
      const own = payments.filter(p => p.partnerId === partner.partnerId && p.mode === mode);
      const sum = (...statuses: string[]) =>
        own.filter(({ status }) => statuses.includes(status)).reduce((total, p) => total + p.microUsdt, 0);
      const ofLive = (sums: Map<string, number>) =>
        mode === 'live' ? (sums.get(partner.partnerId) ?? 0) : 0;
      const held = sum('processing');
      const settled = sum('succeeded') - ofLive(refunded);
      const available = partner.startMicroUsdt[mode] + ofLive(topUps) - held - settled;
      const expected = `available ${available}, held ${held}, settled ${settled}`;
      const account = accounts.find(a => a.partnerId === partner.partnerId && a.mode === mode)!;
      const found = `available ${account.available}, held ${account.held}, settled ${account.settled}`;
      const name = `${partner.partnerId} ${mode}`;
      if (found !== expected)
        violate('balances agree with the payments', `${name}: ${found}; not ${expected}`);
      if (available < 0) violate('nobody pays more than they have', `${mode}: ${available}`);
      const opened = own.filter(({ paymentId }) => !rebuilt.has(paymentId));
      if (opened.filter(p => p.awaitingGateway).length > partner.limits.concurrent)
        violate('no more payments under way than allowed', `more than ${partner.limits.concurrent}`);
      const turnover = highestTurnover(opened);
      const { dailyKopecks } = partner.limits;
      if (dailyKopecks !== null && turnover > Number(dailyKopecks))
        violate('no more a day than allowed', `${turnover} of ${dailyKopecks}`);
    }
}

/** Of a day, in kopecks. */
export function highestTurnover(payments: BookedPayment[]): number {
  const days = new Map<number, number>();
  for (const { status, createdMs, kopecks } of payments) {
    const day = Math.floor(createdMs / 86_400_000);
    if (status === 'processing' || status === 'succeeded') days.set(day, (days.get(day) ?? 0) + kopecks);
  }
  return Math.max(0, ...days.values());
}

/** Between a commit and the due time that it wrote: leases and pauses of payments, and delayed outcomes in test mode. */
const maxPauseMs = 120_000;

/** When the statement was sent, and the books before and after it. */
interface Change {
  sentMs: number;
  before: Books;
  now: Books;
  /** A payment of a history that was lost: rebuilt, it keeps its time. */
  findLost(paymentId: string): BookedPayment | undefined;
}

/**
 * No time on record is further from the moment of its commit than the clock of its process may be off. It may be older by
 * the time that its statement took to run.
 */
export function checkTimes(world: World, { sentMs, before, now, findLost }: Change): void {
  const { scheduler, violate } = world;
  const [earliestMs, latestMs] = [sentMs - world.clockErrorMs, scheduler.nowMs() + world.clockErrorMs];
  const known = new Map(before.payments.map(payment => [payment.paymentId, payment]));

  function check(what: string, atMs: number | null, beforeMs: number | null | undefined, extraMs = 0): void {
    if (atMs === null || atMs === beforeMs) return;
    const isDue = extraMs > 0;
    if ((isDue || atMs >= earliestMs) && atMs <= latestMs + extraMs) return;
    violate(
      "every time on record is the database's",
      `${what} is ${atMs - scheduler.nowMs()} ms from its commit, ${scheduler.nowMs() - sentMs} ms after it was sent`,
    );
  }

  for (const payment of now.payments) {
    const { createdMs, settledMs, eventMs, dueMs } = payment;
    const was: Partial<BookedPayment> = known.get(payment.paymentId) ?? {};
    const name = payment.paymentId;
    const lost = findLost(payment.paymentId);
    check(`the creation of ${name}`, createdMs, was.createdMs ?? lost?.createdMs);
    check(`the end of ${name}`, settledMs, was.settledMs);
    check(`the event of ${name}`, eventMs, was.eventMs);
    check(`the due time of ${name}`, dueMs, was.dueMs, maxPauseMs);
  }
  for (const { partnerId, mode, lastEntryMs } of now.accounts) {
    const was = before.accounts.find(account => account.partnerId === partnerId && account.mode === mode);
    if (was) check(`an entry of ${partnerId}`, lastEntryMs, was.lastEntryMs);
  }
}
