import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import type { Queryable } from '../db/pool.ts';
import type { Mode } from '../ledger/index.ts';
import type { Limits } from './partners.ts';

export type RequestKind = 'create' | 'other';

interface RateLimited {
  partnerId: Id<'prt'>;
  mode: Mode;
  limits: Limits;
}

export interface RateLimiter {
  /** Undefined when the request may go ahead, else how many whole seconds to wait. */
  take(caller: RateLimited, kind: RequestKind): Promise<number | undefined>;
}

interface Lease {
  tokens: number;
  untilMs: number;
  retryAfterSec: number;
  fetching?: Promise<Lease>;
}

/** Tokens fetched ahead are worth nothing after this long, so that no process hoards. */
const leaseMs = 1_000;

/**
 * Token buckets that hold across processes: the bucket is in the database, and each process fetches about a tenth of a
 * second's worth of tokens at a time, so that a partner with high limits does not cost a round trip per request.
 */
export function createRateLimiter(db: Queryable, clock: Clock): RateLimiter {
  const leases = new Map<string, Lease>();

  async function fetchTokens(caller: RateLimited, kind: RequestKind): Promise<Lease> {
    const { createRps, createBurst, otherRps } = caller.limits;
    const [perSecond, burst] = kind === 'create' ? [createRps, createBurst] : [otherRps, otherRps];
    const { rows } = await db.query<{ granted: number; retry_after_sec: number }>({
      name: 'take tokens',
      text: 'SELECT granted, retry_after_sec FROM take_tokens($1, $2, $3, $4, $5, $6, $7)',
      values: [
        uuidFromId(caller.partnerId),
        caller.mode,
        kind,
        perSecond,
        burst,
        Math.ceil(perSecond / 10),
        instantOf(clock),
      ],
    });
    const { granted, retry_after_sec: retryAfterSec } = rows[0]!;
    return { tokens: granted, retryAfterSec, untilMs: clock.nowMs() + leaseMs };
  }

  return {
    take: async (caller, kind) => {
      const name = `${caller.partnerId} ${caller.mode} ${kind}`;
      for (;;) {
        const lease = leases.get(name);
        if (lease && lease.tokens > 0 && clock.nowMs() < lease.untilMs) {
          lease.tokens -= 1;
          return undefined;
        }
        // Those who come while tokens are being fetched wait for these, so that one process asks once.
        const fetching = lease?.fetching ?? fetchTokens(caller, kind);
        leases.set(name, { tokens: 0, retryAfterSec: 0, untilMs: 0, fetching });
        const fetched = await fetching.finally(() => {
          if (leases.get(name)?.fetching === fetching) leases.delete(name);
        });
        if (fetched.tokens === 0) return Math.max(1, Math.ceil(fetched.retryAfterSec));
        leases.set(name, fetched);
      }
    },
  };
}
