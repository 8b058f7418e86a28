import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import type { Queryable } from '../db/pool.ts';
import type { Mode } from '../ledger/index.ts';
import type { Limits } from './partners.ts';

export type RequestKind = 'create' | 'other';

export interface RateLimiter {
  /** Undefined when the request may go ahead, else how many whole seconds to wait. */
  take(
    caller: { partnerId: Id<'prt'>; mode: Mode; limits: Limits },
    kind: RequestKind,
  ): Promise<number | undefined>;
}

/** Tokens fetched ahead are worth nothing after this long, so that no process hoards. */
const leaseMs = 1_000;

/**
 * Token buckets that hold across processes: the bucket is in the database, and each process fetches about a tenth of a
 * second's worth of tokens at a time, so that a partner with high limits does not cost a round trip per request.
 */
export function createRateLimiter(db: Queryable, clock: Clock): RateLimiter {
  const leases = new Map<string, { tokens: number; untilMs: number }>();
  return {
    take: async ({ partnerId, mode, limits }, kind) => {
      const name = `${partnerId} ${mode} ${kind}`;
      const lease = leases.get(name);
      if (lease && lease.tokens > 0 && clock.nowMs() < lease.untilMs) {
        lease.tokens -= 1;
        return undefined;
      }
      const [perSecond, burst] =
        kind === 'create' ? [limits.createRps, limits.createBurst] : [limits.otherRps, limits.otherRps];
      const { rows } = await db.query<{ granted: number; retry_after_sec: number }>({
        name: 'take tokens',
        text: 'SELECT granted, retry_after_sec FROM take_tokens($1, $2, $3, $4, $5, $6, $7)',
        values: [
          uuidFromId(partnerId),
          mode,
          kind,
          perSecond,
          burst,
          Math.ceil(perSecond / 10),
          instantOf(clock),
        ],
      });
      const { granted, retry_after_sec: retryAfterSec } = rows[0]!;
      if (granted === 0) return Math.max(1, Math.ceil(retryAfterSec));
      leases.set(name, { tokens: granted - 1, untilMs: clock.nowMs() + leaseMs });
      return undefined;
    },
  };
}
