import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import type { Queryable } from '../db/pool.ts';
import type { Mode } from '../ledger/index.ts';
import type { Limits } from './partners.ts';

export type RequestKind = 'create' | 'other';

export interface RateLimiter {
  /** Undefined when the request may go ahead, else how many whole seconds to wait. */
  take(caller: Asker, kind: RequestKind): Promise<number | undefined>;
}

interface Asker {
  partnerId: Id<'prt'>;
  mode: Mode;
  limits: Limits;
}

/** Tokens fetched ahead are worth nothing after this long, so that no process hoards. */
const leaseMs = 1_000;

/**
 * Token buckets that hold across processes: the bucket is in the database. A process fetches tokens for all who wait
 * here at once, and a hundredth of a second's worth if that is more, so that a partner with high limits does not cost
 * a round trip per request, while with low ones no token lies here when another process asks for it.
 */
export function createRateLimiter(db: Queryable, clock: Clock): RateLimiter {
  const leases = new Map<string, { tokens: number; untilMs: number }>();
  const waiting = new Map<string, number>();
  const fetching = new Map<string, Promise<number | undefined>>();

  /** Undefined when there are tokens now, else how many whole seconds to wait. */
  async function fetchTokens(name: string, caller: Asker, kind: RequestKind): Promise<number | undefined> {
    const { partnerId, mode, limits } = caller;
    const [perSecond, burst] =
      kind === 'create' ? [limits.createRps, limits.createBurst] : [limits.otherRps, limits.otherRps];
    const wanted = Math.max(waiting.get(name)!, Math.floor(perSecond / 100));
    const { rows } = await db.query<{ granted: number; retry_after_sec: number }>({
      name: 'take tokens',
      text: 'SELECT granted, retry_after_sec FROM take_tokens($1, $2, $3, $4, $5, $6, $7)',
      values: [uuidFromId(partnerId), mode, kind, perSecond, burst, wanted, instantOf(clock)],
    });
    const { granted, retry_after_sec: retryAfterSec } = rows[0]!;
    if (granted === 0) return Math.max(1, Math.ceil(retryAfterSec));
    leases.set(name, { tokens: granted, untilMs: clock.nowMs() + leaseMs });
    return undefined;
  }

  async function waitForToken(name: string, caller: Asker, kind: RequestKind): Promise<number | undefined> {
    for (;;) {
      const lease = leases.get(name);
      if (lease && lease.tokens > 0 && clock.nowMs() < lease.untilMs) {
        lease.tokens -= 1;
        return undefined;
      }
      // One fetch at a time: of two, the one would throw away what the other brought.
      const fetched =
        fetching.get(name) ?? fetchTokens(name, caller, kind).finally(() => fetching.delete(name));
      fetching.set(name, fetched);
      const retryAfterSec = await fetched;
      if (retryAfterSec !== undefined) return retryAfterSec;
    }
  }

  return {
    take: async (caller, kind) => {
      const name = `${caller.partnerId} ${caller.mode} ${kind}`;
      waiting.set(name, (waiting.get(name) ?? 0) + 1);
      try {
        return await waitForToken(name, caller, kind);
      } finally {
        const others = waiting.get(name)! - 1;
        if (others > 0) waiting.set(name, others);
        else waiting.delete(name);
      }
    },
  };
}
