import { type Clock, systemClock } from '../../src/base/clock.ts';
import { type Id, newId } from '../../src/base/ids.ts';
import { createBatcher } from '../../src/db/batching/batch.ts';
import { isItemError } from '../../src/db/postgres/database-errors.ts';
import { type Queryable, retryOnDeadlock } from '../../src/db/postgres/pool.ts';
import { type Hold, type HoldEnd, type Posting, type PostingResult, post } from '../../src/ledger/post.ts';

/**
 * The postings of a payment by themselves, for tests and benches of the ledger. The service posts them through
 * `payments_open` and `payments_finish`, which call the same SQL function.
 */

/** The live hold of a new payment. */
export const newHold = (partnerId: Id<'prt'>, microUsdt: bigint) =>
  ({ partnerId, mode: 'live', paymentId: newId('pay', systemClock), microUsdt }) as const;

type HoldVerdict =
  | { outcome: 'held' | 'already_held'; balanceMicroUsdt: bigint }
  | { outcome: 'insufficient'; requiredMicroUsdt: bigint; balanceMicroUsdt: bigint }
  /** The same payment is held with another amount. */
  | { outcome: 'conflict' }
  /** It was held, and has been settled or released since: nothing is reserved for it. */
  | { outcome: 'already_ended' }
  | { outcome: 'no_account' };

const settleOutcomes = {
  done: 'settled',
  already_done: 'already_settled',
  conflict: 'already_released',
  not_held: 'not_held',
  no_account: 'no_account',
} as const;
type SettleVerdict = { outcome: (typeof settleOutcomes)[keyof typeof settleOutcomes] };

const releaseOutcomes = {
  done: 'released',
  already_done: 'already_released',
  conflict: 'already_settled',
  not_held: 'not_held',
  no_account: 'no_account',
} as const;
type ReleaseVerdict = { outcome: (typeof releaseOutcomes)[keyof typeof releaseOutcomes] };

/** Reserves money for payments: available → held. There is no expiry: only settle or release ends a hold. */
export async function hold(db: Queryable, clock: Clock, items: Hold[]): Promise<HoldVerdict[]> {
  const results = await post(
    db,
    clock,
    items.map(item => ({ operation: 'hold', ...item })),
  );
  return results.map((result, index) => holdVerdict(result, items[index]!));
}

/** The payments went through: held → settled, for good. */
export async function settle(db: Queryable, clock: Clock, items: HoldEnd[]): Promise<SettleVerdict[]> {
  const results = await post(
    db,
    clock,
    items.map(({ partnerId, mode, paymentId }) => ({ operation: 'settle', partnerId, mode, paymentId })),
  );
  return results.map(settleVerdict);
}

/** The payments did not go through: held → available. */
export async function release(db: Queryable, clock: Clock, items: HoldEnd[]): Promise<ReleaseVerdict[]> {
  const results = await post(
    db,
    clock,
    items.map(({ partnerId, mode, paymentId }) => ({ operation: 'release', partnerId, mode, paymentId })),
  );
  return results.map(releaseVerdict);
}

function holdVerdict({ verdict, balance }: PostingResult, { microUsdt }: Hold): HoldVerdict {
  switch (verdict) {
    case 'done':
      return { outcome: 'held', balanceMicroUsdt: balance };
    case 'already_done':
      return { outcome: 'already_held', balanceMicroUsdt: balance };
    case 'insufficient':
      return { outcome: 'insufficient', requiredMicroUsdt: microUsdt, balanceMicroUsdt: balance };
    case 'ended':
      return { outcome: 'already_ended' };
    case 'conflict':
    case 'no_account':
      return { outcome: verdict };
    case 'not_held':
      throw unexpected('hold', verdict);
  }
}

function settleVerdict({ verdict }: PostingResult): SettleVerdict {
  if (verdict === 'insufficient' || verdict === 'ended') throw unexpected('settle', verdict);
  return { outcome: settleOutcomes[verdict] };
}

function releaseVerdict({ verdict }: PostingResult): ReleaseVerdict {
  if (verdict === 'insufficient' || verdict === 'ended') throw unexpected('release', verdict);
  return { outcome: releaseOutcomes[verdict] };
}

const unexpected = (operation: string, verdict: string) => new Error(`a ${operation} cannot be ${verdict}`);

/** The ledger for many callers: calls that arrive together share one statement and one commit. */
interface BatchedLedger {
  hold(item: Hold): Promise<HoldVerdict>;
  settle(item: HoldEnd): Promise<SettleVerdict>;
  release(item: HoldEnd): Promise<ReleaseVerdict>;
}

const maxBatch = 256;
const maxWaiting = 10_000;

export function batchLedger(db: Queryable, clock: Clock): BatchedLedger {
  const enqueue = createBatcher<Posting, PostingResult>({
    run: postings => retryOnDeadlock(() => post(db, clock, postings)),
    isItemError,
    maxBatch,
    maxWaiting,
  });
  return {
    hold: async item => holdVerdict(await enqueue({ operation: 'hold', ...item }), item),
    settle: async item => settleVerdict(await enqueue({ operation: 'settle', ...item })),
    release: async item => releaseVerdict(await enqueue({ operation: 'release', ...item })),
  };
}
