import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { type Queryable, readValues, type Stored } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';
import { type Payment, toPayment } from '../payment.ts';
import { type PaymentFilter, type SearchPlan, scanStatement, totalsStatement } from './search-statement.ts';

export interface FoundPayment extends Payment {
  partnerName: string;
}

/**
 * A search reads payments along one index in a few scans, and then returns what it has, however few payments match the
 * rest of the filter: the operator gets an answer in time, and continues from there. The first scan reads no more than a
 * page, each next one four times as many: with a small LIMIT the planner follows the index instead of sorting.
 */
const maxScanSize = 2_000;
/** Together with the sizes, some 7 000 payments. */
const maxScans = 6;
/** Up to this many recipients with the same beginning are scanned one by one. */
const maxRecipients = 40;
const maxPartnersByName = 1_000;

/** Payments that match any of the filters, newest first. */
export async function searchPayments(
  db: Queryable,
  filters: PaymentFilter[],
  { limit, after }: { limit: number; after?: Id<'pay'> | undefined },
) {
  const found = new Map<string, FoundRow>();
  /** Down to this id, every match has been found. */
  let horizon = '';
  // One after the other, to leave connections for payments.
  for (const filter of filters) {
    const { rows, stoppedAt } = await searchOne(db, filter, limit, after);
    for (const row of rows) found.set(row.paymentId, row);
    if (stoppedAt && stoppedAt > horizon) horizon = stoppedAt;
  }
  const complete = [...found.values()]
    .filter(({ paymentId }) => paymentId >= horizon)
    .sort((one, other) => (one.paymentId < other.paymentId ? 1 : -1));
  const page = complete.slice(0, limit);
  const next = complete.length > limit ? page.at(-1)!.paymentId : horizon;
  return {
    payments: page.map(row => ({ ...toPayment(row), partnerName: row.partnerName })),
    /** Where the next page begins; null when there is none. A page that is not full may have a next one. */
    next: next ? idFromUuid('pay', next) : null,
  };
}

const exportPageSize = 500;

/** The same page by page, up to `max` payments; the last page says whether there are more. */
export async function* readFoundPayments(
  db: Queryable,
  filters: PaymentFilter[],
  max: number,
): AsyncGenerator<{ payments: FoundPayment[]; hasMore: boolean }> {
  let left = max;
  for (let after: Id<'pay'> | undefined; ; ) {
    const { payments, next } = await searchPayments(db, filters, {
      limit: Math.min(left, exportPageSize),
      after,
    });
    left -= payments.length;
    yield { payments, hasMore: left === 0 && next !== null };
    if (next === null || left === 0) return;
    after = next;
  }
}

type FoundRow = Stored<FoundPayment>;

/** A match of a scan, with how many payments it read and the last of them; without a match, one row of nulls. */
type ScanRow = FoundRow & { scanned: number; last_id: string | null };

async function searchOne(
  db: Queryable,
  filter: PaymentFilter,
  limit: number,
  after: Id<'pay'> | undefined,
): Promise<{ rows: FoundRow[]; stoppedAt?: string }> {
  const plan = await planOf(db, filter);
  if (!plan) return { rows: [] };
  const maxSize = Math.max(limit + 1, maxSizeOf(plan));
  const found: FoundRow[] = [];
  let before = after && uuidFromId(after);
  let size = limit + 1;
  for (let scans = 0; scans < maxScans; scans++) {
    const scan = { before, size, maxMatches: limit + 1 - found.length };
    const { rows } = await db.query<ScanRow>(scanStatement(plan, scan));
    found.push(...rows.filter(({ paymentId }) => paymentId !== null));
    const { scanned, last_id: last } = rows[0]!;
    if (scanned < size || found.length > limit) return { rows: found };
    before = last!;
    size = Math.min(size * 4, maxSize);
  }
  return { rows: found, stoppedAt: before! };
}

/** Undefined when nothing can match. */
export async function planOf(db: Queryable, filter: PaymentFilter): Promise<SearchPlan | undefined> {
  const partners = await partnersOf(db, filter);
  if (partners?.length === 0) return undefined;
  const recipients = filter.recipient === undefined ? undefined : await recipientsOf(db, filter.recipient);
  return recipients?.length === 0 ? undefined : { ...filter, partners, recipients };
}

/** Each recipient is scanned for this many, so that all of them together are not too many. */
const maxSizeOf = ({ recipients }: SearchPlan) => Math.floor(maxScanSize / (recipients?.length ?? 1));

async function partnersOf(
  db: Queryable,
  { partnerId, partnerName }: PaymentFilter,
): Promise<string[] | undefined> {
  if (partnerId) return [uuidFromId(partnerId)];
  if (partnerName === undefined) return undefined;
  return readValues<string>(db, {
    text: `SELECT id FROM partners WHERE starts_with(lower(name), lower($1)) ORDER BY id DESC LIMIT ${maxPartnersByName}`,
    values: [partnerName],
  });
}

/** Recipients by the beginning of their name, in lower case; undefined when they are too many. A loose index scan: it
 * jumps from one name to the next instead of reading all payments of each. */
async function recipientsOf(db: Queryable, begins: string): Promise<string[] | undefined> {
  const names = await readValues<string>(db, {
    text: `WITH RECURSIVE names (name) AS (
             SELECT next_recipient(lower($1), true, lower($1) || chr(1114111))
             UNION ALL
             SELECT next_recipient(n.name, false, lower($1) || chr(1114111)) FROM names n WHERE n.name IS NOT NULL
           )
           SELECT name FROM names WHERE name IS NOT NULL LIMIT ${maxRecipients + 1}`,
    values: [begins],
  });
  return names.length > maxRecipients ? undefined : names;
}

/** How many payments there are in a state, and what they sum to. Live and test money are never summed together. */
export interface StateTotal {
  mode: Mode;
  /** `manual_review`: processing, and in manual review. */
  state: 'processing' | 'manual_review' | 'succeeded' | 'failed';
  count: number;
  kopecks: bigint;
  microUsdt: bigint;
}

export interface PaymentTotals {
  /** Those with payments. */
  totals: StateTotal[];
  /** False: only the newest payments were counted. */
  isComplete: boolean;
}

/** Together with the size of a scan, 20 000 payments; the page asks again and again. */
const maxTotalScans = 10;

/** Sums the payments that match any of the filters. */
export async function totalPayments(db: Queryable, filters: PaymentFilter[]): Promise<PaymentTotals> {
  const sums = new Map<string, StateTotal>();
  const plans: SearchPlan[] = [];
  let isComplete = true;
  // One after the other, to leave connections for payments.
  for (const filter of filters) {
    const plan = await planOf(db, filter);
    if (!plan) continue;
    if (!(await addTotals(db, plan, plans, sums))) isComplete = false;
    plans.push(plan);
  }
  return { totals: [...sums.values()], isComplete };
}

/** Without a match, one row of nulls. */
interface TotalRow extends Omit<StateTotal, 'state'> {
  status: StateTotal['state'] | null;
  status_detail: Payment['statusDetail'];
  scanned: number;
  last_id: string | null;
}

/** Returns false if there are more payments than it has read. */
async function addTotals(
  db: Queryable,
  plan: SearchPlan,
  others: SearchPlan[],
  sums: Map<string, StateTotal>,
): Promise<boolean> {
  const size = maxSizeOf(plan);
  let before: string | undefined;
  for (let scans = 0; scans < maxTotalScans; scans++) {
    const { rows } = await db.query<TotalRow>(totalsStatement(plan, others, { before, size }));
    for (const { status, status_detail: detail, mode, count, kopecks, microUsdt } of rows) {
      if (status === null) continue;
      const state = status === 'processing' && detail === 'manual_review' ? detail : status;
      const sum = sums.get(`${mode} ${state}`) ?? { mode, state, count: 0, kopecks: 0n, microUsdt: 0n };
      sum.count += count;
      sum.kopecks += kopecks;
      sum.microUsdt += microUsdt;
      sums.set(`${mode} ${state}`, sum);
    }
    const { scanned, last_id: last } = rows[0]!;
    if (scanned < size) return true;
    before = last!;
  }
  return false;
}
