import type { Queryable } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';
import type { Payment } from '../payment.ts';
import { maxSizeOf, planOf } from './search.ts';
import type { PaymentFilter } from './search-statement.ts';
import { type SearchPlan, totalsStatement } from './search-statement.ts';

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
const maxScans = 10;

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
  for (let scans = 0; scans < maxScans; scans++) {
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
