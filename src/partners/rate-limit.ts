import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { createBatcher, nextLoopTurn } from '../db/batch.ts';
import { isItemError, type Queryable } from '../db/pool.ts';
import type { Mode } from '../ledger/index.ts';
import type { Limits } from './partners.ts';

export type RequestKind = 'create' | 'other';

export interface RateLimiter {
  /** Undefined when the request is allowed, else the whole seconds to wait (Retry-After). */
  take(caller: Caller, kind: RequestKind): Promise<number | undefined>;
}

interface Caller {
  partnerId: Id<'prt'>;
  mode: Mode;
  limits: Limits;
}

const bucketOf = (limits: Limits, kind: RequestKind) =>
  kind === 'create'
    ? { perSecond: limits.createRps, burst: limits.createBurst }
    : { perSecond: limits.otherRps, burst: limits.otherRps };

/** Prefetched tokens expire, so that no process hoards them. */
const leaseMs = 10_000;

/**
 * Token buckets shared by all processes: the bucket is a row in PostgreSQL. A process fetches tokens for all requests
 * that wait here at once, or 10 ms worth of them if that is more. So a high limit does not cost a round trip per
 * request, and under a low limit no token lies here while another process needs it.
 *
 * Written by hand: libraries keep buckets in one process or in Redis; here it is one SQL function and these lines.
 */
export function createRateLimiter(db: Queryable, clock: Clock): RateLimiter {
  const leases = new Map<string, { tokens: number; untilMs: number; perSecond: number }>();
  const waiting = new Map<string, number>();
  const fetching = new Map<string, Promise<number | undefined>>();
  const takeTokens = createBatcher<Fetch, Grant>({
    isItemError,
    laneOf: () => 0,
    maxBatch: 256,
    maxWaiting: 5_000,
    gather: nextLoopTurn,
    run: fetches => takeAll(db, clock, fetches),
  });

  /** Undefined when there are tokens now, else how many whole seconds to wait. */
  async function fetchTokens(name: string, caller: Caller, kind: RequestKind): Promise<number | undefined> {
    const { partnerId, mode, limits } = caller;
    const { perSecond, burst } = bucketOf(limits, kind);
    const wanted = Math.max(waiting.get(name)!, Math.floor(perSecond / 100));
    const { granted, retryAfterSec } = await takeTokens({ partnerId, mode, kind, perSecond, burst, wanted });
    if (granted === 0) return Math.max(1, Math.ceil(retryAfterSec));
    leases.set(name, { tokens: granted, untilMs: clock.nowMs() + leaseMs, perSecond });
    return undefined;
  }

  async function waitForToken(name: string, caller: Caller, kind: RequestKind): Promise<number | undefined> {
    for (;;) {
      const lease = leases.get(name);
      // Tokens fetched under other limits are not valid under these.
      const isValid =
        lease && clock.nowMs() < lease.untilMs && lease.perSecond === bucketOf(caller.limits, kind).perSecond;
      if (isValid && lease.tokens > 0) {
        lease.tokens -= 1;
        return undefined;
      }
      // One fetch at a time: of two, the second would overwrite the tokens of the first.
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

/** A request for tokens of one bucket. */
interface Fetch {
  partnerId: Id<'prt'>;
  mode: Mode;
  kind: RequestKind;
  perSecond: number;
  burst: number;
  wanted: number;
}

interface Grant {
  granted: number;
  retryAfterSec: number;
}

/** Takes from many buckets in one statement. They are locked in a fixed order, so that processes do not deadlock. */
async function takeAll(db: Queryable, clock: Clock, fetches: Fetch[]): Promise<Grant[]> {
  const { rows } = await db.query<Grant & { item: number }>({
    name: 'take tokens',
    text: `SELECT k.item::int, t.granted, t.retry_after_sec AS "retryAfterSec"
             FROM (SELECT * FROM unnest($1::uuid[], $2::mode[], $3::text[], $4::float8[], $5::float8[], $6::int[])
                          WITH ORDINALITY AS k (partner_id, mode, kind, per_second, burst, wanted, item)
                    ORDER BY partner_id, mode, kind) AS k,
                  LATERAL take_tokens(k.partner_id, k.mode, k.kind, k.per_second, k.burst, k.wanted, $7) AS t`,
    values: [
      fetches.map(({ partnerId }) => uuidFromId(partnerId)),
      fetches.map(({ mode }) => mode),
      fetches.map(({ kind }) => kind),
      fetches.map(({ perSecond }) => perSecond),
      fetches.map(({ burst }) => burst),
      fetches.map(({ wanted }) => wanted),
      instantOf(clock),
    ],
  });
  return rows.sort((a, b) => a.item - b.item);
}
