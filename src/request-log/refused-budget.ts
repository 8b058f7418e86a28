import type { Clock } from '../base/clock.ts';
import { createTokenBuckets } from '../base/token-buckets.ts';

/**
 * How many refused requests are recorded: of one partner, and of all callers without a valid key together. A person who tries
 * out an integration stays far below. A flood adds two rows a second to a process, which are 1.2 million a week.
 */
const refused = { burst: 300, perSec: 2 };
/**
 * Failures (5xx) are counted apart, so that the requests of an outage can be found. Their keys were not checked, so they are
 * counted by network: one that sends many leaves the budget of others. All together fill only half of what may wait.
 */
const failed = { burst: 1_000, perSec: 5 };
const allFailed = { burst: 5_000, perSec: 10 };

interface Refused {
  keyHolder?: { partnerId: string } | undefined;
  network?: string | undefined;
  status: number;
}

/** Bounds how many requests are recorded that no rate limit bounds. */
export function createRefusedBudget(clock: Clock): (request: Refused) => boolean {
  const takeRefusal = createTokenBuckets(clock, refused);
  const takeFailure = createTokenBuckets(clock, failed);
  const takeAnyFailure = createTokenBuckets(clock, allFailed);
  return ({ keyHolder, network = '', status }) =>
    status < 500
      ? takeRefusal(keyHolder?.partnerId ?? '') === undefined
      : takeFailure(keyHolder?.partnerId ?? network) === undefined && takeAnyFailure('') === undefined;
}
