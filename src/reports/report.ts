import type { Clock } from '../base/clock.ts';
import type { Id } from '../base/ids.ts';
import type { Queryable } from '../db/postgres/index.ts';
import {
  type AccountKey,
  type BookedEntry,
  type Entry,
  type LedgerPeriod,
  type OpenHold,
  openHoldsOf,
  openPeriod,
  readPeriod,
} from '../ledger/index.ts';
import {
  hasLeftArchive,
  type PaymentTerms,
  readPaymentTerms,
  readRefundKopecks,
  refundedPayments,
} from '../payments/index.ts';
import type { ReportPeriod } from './wanted-period.ts';

/**
 * What a row says happened. It follows from the entries of the period alone, so that what happens later changes no file of a
 * period that is over: a payment is `processing` in the month in which it was still held at its end, whatever came of it, and its
 * refund is a row of the month in which it was booked.
 */
export const rowKinds = [
  'succeeded',
  'failed',
  'rejected',
  'processing',
  'refund',
  'credit',
  'grant',
] as const;
export type RowKind = (typeof rowKinds)[number];

export interface ReportRow {
  kind: RowKind;
  /** The number of its entry in the ledger. */
  entryNo: bigint;
  at: Date;
  paymentId: Id<'pay'> | null;
  externalId: string | null;
  recipient: string | null;
  /** Of the payment, or what of it was refunded. */
  kopecks: bigint | null;
  rateE4: bigint | null;
  microUsdt: bigint;
  /** What the partner has after it, with what is held. */
  balance: bigint;
  reference: string | null;
}

/** What a partner has: available and on hold. Of its movements an accountant sees those, and not that they were held before. */
interface Owned {
  total: bigint;
  held: bigint;
}

export interface Report {
  account: AccountKey;
  partner: string;
  period: ReportPeriod;
  /** The period is over: every later file of it is the same. */
  closed: boolean;
  /** When the period ended, or now: a file of a period that is over has no other time. */
  madeAt: Date;
  opening: Owned;
  closing: Owned;
  ledger: LedgerPeriod;
}

const ownedOf = ({ available, held }: LedgerPeriod['opening']): Owned => ({ total: available + held, held });

/** Of test mode, entries may have been pruned; payments of an old month may have left the archive. */
export async function openReport(
  db: Queryable,
  clock: Clock,
  account: AccountKey & { partner: string },
  period: ReportPeriod,
): Promise<Report | 'pruned' | 'left_archive'> {
  const { partner, ...key } = account;
  const madeAt = new Date(Math.min(clock.nowMs(), period.end.getTime()));
  const ledger = await openPeriod(db, clock, key, period);
  if (ledger === undefined) throw new Error(`the period that begins on ${period.from} has not begun`);
  if (ledger === 'pruned') return ledger;
  if (await lacksPayments(db, key, ledger)) return 'left_archive';
  return {
    account: key,
    partner: plain(partner),
    ...{ period, madeAt, ledger, closed: ledger.closed },
    opening: ownedOf(ledger.opening),
    closing: ownedOf(ledger.closing),
  };
}

/**
 * Whether a payment that has a row in it may have been deleted since: then there would be another file. It is from the time of the
 * period, was processing at its start, or was refunded in it.
 */
async function lacksPayments(db: Queryable, account: AccountKey, ledger: LedgerPeriod): Promise<boolean> {
  if (await hasLeftArchive(db, ledger)) return true;
  const atStart = { ...ledger, entriesUpTo: ledger.entriesAbove, closing: ledger.opening };
  const holds = (await openHoldsOf(db, atStart)).map(({ paymentId }) => paymentId);
  const earlier = [...holds, ...(await refundedPayments(db, ledger))];
  const terms = earlier.length > 0 ? await readPaymentTerms(db, account, earlier) : new Map();
  return earlier.some(paymentId => !terms.has(paymentId));
}

/**
 * The rows of all formats, page by page: first what was booked, in the order of the ledger, then the payments that were still
 * processing at the end. They are added up while they are read: each entry must lead to the balances that it has, and the rows from
 * what the partner had at the start to what it has at the end.
 */
export async function* reportRows(db: Queryable, report: Report): AsyncGenerator<ReportRow[]> {
  const { ledger, opening, closing } = report;
  let total = opening.total;
  for await (const page of readPeriod(db, ledger)) {
    const rows = await rowsOf(
      db,
      report,
      page.filter(({ entry }) => kindsOf[entry.kind] !== null),
    );
    for (const row of rows) total += changeOf(row);
    if (rows.length > 0) yield rows;
  }
  const holds = await openHoldsOf(db, ledger);
  const held = holds.reduce((sum, { microUsdt }) => sum + microUsdt, 0n);
  if (total !== closing.total || held !== closing.held)
    throw new Error(`the rows of ${ledger.partnerId} from ${report.period.from} on are not its balances`);
  for (let first = 0; first < holds.length; first += holdsAtOnce)
    yield await processingOf(db, report, holds.slice(first, first + holdsAtOnce));
}

const holdsAtOnce = 500;

/** What a row adds to what the partner has: a payment takes it when it succeeds. */
export const changeOf = ({ kind, microUsdt }: Pick<ReportRow, 'kind' | 'microUsdt'>): bigint =>
  kind === 'succeeded' ? -microUsdt : isIncome(kind) ? microUsdt : 0n;

export const isIncome = (kind: RowKind) => kind === 'refund' || kind === 'credit' || kind === 'grant';

/** A hold is no row of its own: the payment is one when it ends, or at the end of the period. */
const kindsOf: Record<Entry['kind'], RowKind | null> = {
  hold: null,
  settle: 'succeeded',
  release: 'failed',
  refund: 'refund',
  credit: 'credit',
  grant: 'grant',
};

async function rowsOf(db: Queryable, report: Report, booked: BookedEntry[]): Promise<ReportRow[]> {
  const ids = [...new Set(booked.flatMap(({ entry }) => entry.paymentId ?? []))];
  const refunds = booked.flatMap(({ entry }) => (entry.kind === 'refund' ? entry.entryNo : []));
  const terms = ids.length > 0 ? await readPaymentTerms(db, report.account, ids) : new Map();
  const kopecks = refunds.length > 0 ? await readRefundKopecks(db, report.account, refunds) : new Map();
  return booked.flatMap(({ entry, after }) => {
    const payment: PaymentTerms | undefined = entry.paymentId ? terms.get(entry.paymentId) : undefined;
    const isRejected = entry.kind === 'release' && payment?.rejected === true;
    // A rejected attempt is no payment, unless the period before ends with it as one that is processing.
    if (isRejected && payment.createdAt >= report.period.start) return [];
    return {
      kind: isRejected ? 'rejected' : kindsOf[entry.kind]!,
      entryNo: entry.entryNo,
      at: entry.at,
      ...termsOf(entry.paymentId, payment),
      ...(entry.kind === 'refund' ? { kopecks: kopecks.get(entry.entryNo) ?? null } : {}),
      microUsdt: entry.microUsdt,
      balance: after.available + after.held,
      reference: entry.reference && plain(entry.reference),
    };
  });
}

async function processingOf(db: Queryable, report: Report, holds: OpenHold[]): Promise<ReportRow[]> {
  const ids = holds.map(({ paymentId }) => paymentId);
  const terms = await readPaymentTerms(db, report.account, ids);
  return holds.map(({ entryNo, at, microUsdt, paymentId }) => ({
    ...{ kind: 'processing' as const, entryNo, at, microUsdt, reference: null },
    ...termsOf(paymentId, terms.get(paymentId)),
    balance: report.closing.total,
  }));
}

function termsOf(paymentId: Id<'pay'> | null, payment: PaymentTerms | undefined) {
  if (paymentId && !payment) throw new Error(`${paymentId} was deleted while a report of it was read`);
  return {
    paymentId,
    externalId: payment?.externalId ? plain(payment.externalId) : null,
    recipient: payment ? plain(payment.recipient) : null,
    kopecks: payment?.amountKopecks ?? null,
    rateE4: payment?.rateE4 ?? null,
  };
}

/** Of one line: a line break or another control character in a text of others would break the lines of a format, and XML has no U+FFFE and U+FFFF. */
export const plain = (text: string) => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\ufffe\uffff]/gu, ' ');
