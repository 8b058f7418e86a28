import type { Clock } from '../base/clock.ts';
import type { Id } from '../base/ids.ts';
import { createBudget } from './budget.ts';

/** Of a request that did not pass the rate limit. */
interface RefusedRequest {
  keyHolder: { partnerId: Id<'prt'> } | undefined;
  network: string | undefined;
  status: number;
}

/**
 * How many refused requests are recorded: of one partner, and of all callers without a valid key together. A person who tries
 * out an integration stays far below. A flood adds two rows a second to a process, which are 1.2 million a week.
 */
const refused = { burst: 300, perSecond: 2 };
/**
 * Failures (5xx) are counted apart, so that the requests of an outage can be found. Their keys were not checked, so they are
 * counted by network: one that sends many leaves the budget of others. All together fill only half of what may wait.
 */
const failed = { burst: 1_000, perSecond: 5 };
const allFailed = { burst: 5_000, perSecond: 10 };

/** Bounds how many requests are recorded that no rate limit bounds. */
export function createRefusedBudget(clock: Clock): { take(request: RefusedRequest): boolean } {
  const refusals = createBudget(clock, refused);
  const failures = createBudget(clock, failed);
  const allFailures = createBudget(clock, allFailed);
  return {
    take: ({ keyHolder, network = '', status }) =>
      status < 500
        ? refusals.take(keyHolder?.partnerId ?? '')
        : failures.take(keyHolder?.partnerId ?? network) && allFailures.take(''),
  };
}
