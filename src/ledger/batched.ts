import type { Clock } from '../base/clock.ts';
import { createBatcher } from '../db/batch.ts';
import { isItemError, type Queryable, retryOnDeadlock } from '../db/pool.ts';
import {
  type HoldVerdict,
  holdVerdict,
  type ReleaseVerdict,
  releaseVerdict,
  type SettleVerdict,
  settleVerdict,
} from './operations.ts';
import { type Hold, type HoldEnd, type Posting, type PostingResult, post } from './post.ts';

/** The ledger for many callers at once: what they ask for at the same time shares one statement and one commit. */
export interface BatchedLedger {
  hold(item: Hold): Promise<HoldVerdict>;
  settle(item: HoldEnd): Promise<SettleVerdict>;
  release(item: HoldEnd): Promise<ReleaseVerdict>;
}

/** Two lanes keep the server's two sides busy (one commits while the other computes); more brought nothing. */
const lanes = 2;
const maxBatch = 256;
const maxWaiting = 10_000;

export function batchLedger(db: Queryable, clock: Clock): BatchedLedger {
  const enqueue = createBatcher<Posting, PostingResult>({
    run: postings => retryOnDeadlock(() => post(db, clock, postings)),
    isItemError,
    laneOf,
    maxBatch,
    maxWaiting,
  });
  return {
    hold: async item => holdVerdict(await enqueue({ operation: 'hold', ...item }), item),
    settle: async item => settleVerdict(await enqueue({ operation: 'settle', ...item })),
    release: async item => releaseVerdict(await enqueue({ operation: 'release', ...item })),
  };
}

/** Lanes go by partner, so that no two of this process ever wait for the same account. */
function laneOf({ partnerId }: Posting): number {
  return partnerId.charCodeAt(partnerId.length - 1) % lanes;
}
