import type { Clock } from '../../base/clock.ts';
import { ascending } from '../../base/money.ts';
import { NodeError, type NodeFailure } from '../chain/node-error.ts';
import type { Range } from './read-range.ts';

/** How many blocks are asked for at once: halved when a node refuses, doubled when it answers. */
export interface RangeSize {
  blocks: bigint;
}
export const maxRangeBlocks = 2_000n;

/** A shorter range needs fewer requests, so one that is throttled is halved too: each range that is booked is progress. */
const canHalve: Record<NodeFailure, boolean> = {
  too_large: true,
  refused: true,
  throttled: true,
  failed: false,
};
const throttledPauseMs = 1_000;

/** `choose` gives a range of at most so many blocks. */
export async function readHalving<Result>(
  { clock, size }: { clock: Clock; size: RangeSize },
  choose: (most: bigint) => Range,
  read: (range: Range) => Promise<Result>,
): Promise<Result> {
  for (;;) {
    const range = choose(size.blocks);
    try {
      const result = await read(range);
      if (size.blocks < maxRangeBlocks) size.blocks = size.blocks * 2n;
      return result;
    } catch (error) {
      const blocks = range.toBlock - range.fromBlock + 1n;
      if (!(error instanceof NodeError && canHalve[error.failure] && blocks > 1n)) throw error;
      // Half of what was asked for: the same question again would get the same refusal.
      size.blocks = blocks / 2n;
      if (error.failure === 'throttled') await clock.sleep(throttledPauseMs);
    }
  }
}

/** From a block on, up to the last one. */
export const rangeFrom =
  (fromBlock: bigint, last: bigint) =>
  (most: bigint): Range => ({ fromBlock, toBlock: ascending([last, fromBlock + most - 1n])[0]! });

/**
 * What comes after `cursor`, and before it `again` blocks that were read already, unless the node wants ranges that are too short
 * for that.
 */
export const rangeAfter =
  (cursor: bigint, last: bigint, again: bigint) =>
  (most: bigint): Range => {
    const before = most >= 2n * again ? ascending([again, cursor])[0]! : 0n;
    return rangeFrom(cursor + 1n - before, last)(most);
  };
