import type { Clock } from '../base/clock.ts';
import type { Queryable } from '../db/pool.ts';
import { type Credit, type Hold, type HoldEnd, type PostingResult, post } from './post.ts';

export type HoldVerdict =
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
export type SettleVerdict = { outcome: (typeof settleOutcomes)[keyof typeof settleOutcomes] };

const releaseOutcomes = {
  done: 'released',
  already_done: 'already_released',
  conflict: 'already_settled',
  not_held: 'not_held',
  no_account: 'no_account',
} as const;
export type ReleaseVerdict = { outcome: (typeof releaseOutcomes)[keyof typeof releaseOutcomes] };

export type CreditVerdict =
  | { outcome: 'credited' | 'already_credited'; balanceMicroUsdt: bigint }
  /** The same reference was credited with another amount. */
  | { outcome: 'conflict' }
  | { outcome: 'no_account' };

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
    items.map(item => ({ operation: 'settle', ...item })),
  );
  return results.map(settleVerdict);
}

/** The payments did not go through: held → available. */
export async function release(db: Queryable, clock: Clock, items: HoldEnd[]): Promise<ReleaseVerdict[]> {
  const results = await post(
    db,
    clock,
    items.map(item => ({ operation: 'release', ...item })),
  );
  return results.map(releaseVerdict);
}

/** Money arrives from outside (`topup`) or from the house (`treasury`); once per reference. */
export async function credit(
  db: Queryable,
  clock: Clock,
  items: Credit[],
  source: 'topup' | 'treasury' = 'topup',
): Promise<CreditVerdict[]> {
  const operation = source === 'topup' ? 'credit' : 'grant';
  const results = await post(
    db,
    clock,
    items.map(item => ({ operation, ...item })),
  );
  return results.map(creditVerdict);
}

export function holdVerdict({ verdict, balance }: PostingResult, { microUsdt }: Hold): HoldVerdict {
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

export function settleVerdict({ verdict }: PostingResult): SettleVerdict {
  if (verdict === 'insufficient' || verdict === 'ended') throw unexpected('settle', verdict);
  return { outcome: settleOutcomes[verdict] };
}

export function releaseVerdict({ verdict }: PostingResult): ReleaseVerdict {
  if (verdict === 'insufficient' || verdict === 'ended') throw unexpected('release', verdict);
  return { outcome: releaseOutcomes[verdict] };
}

function creditVerdict({ verdict, balance }: PostingResult): CreditVerdict {
  switch (verdict) {
    case 'done':
      return { outcome: 'credited', balanceMicroUsdt: balance };
    case 'already_done':
      return { outcome: 'already_credited', balanceMicroUsdt: balance };
    case 'conflict':
    case 'no_account':
      return { outcome: verdict };
    case 'ended':
    case 'insufficient':
    case 'not_held':
      throw unexpected('credit', verdict);
  }
}

const unexpected = (operation: string, verdict: string) => new Error(`a ${operation} cannot be ${verdict}`);
