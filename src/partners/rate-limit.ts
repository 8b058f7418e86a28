import { type Clock, instantOf } from '../base/clock.ts';
import { uuidFromId } from '../base/ids.ts';
import * as batching from '../db/batching/index.ts';
import { commitsWithoutWaiting, isItemError, type Queryable } from '../db/postgres/index.ts';
import type { AccountKey } from '../ledger/index.ts';
import type { Limits } from './partners.ts';

export type RequestKind = 'create' | 'other';

export type RateLimiter = ReturnType<typeof createRateLimiter>;

interface Caller extends AccountKey {
  limits: Limits;
}

const bucketOf = (limits: Limits, kind: RequestKind) =>
  kind === 'create'
    ? { perSecond: limits.createRps, burst: limits.createBurst }
    : { perSecond: limits.otherRps, burst: limits.otherRps };

/** From this limit on, requests share round trips even if they do not arrive together. */
const highPerSecond = 1_000;
/** How long one fetch for such a limit keeps the next one waiting: 500 a second instead of one per request. */
const gatherMs = 2;
const maxWaiting = 5_000;

/** A request that waits for a token. It never leaves before it has its answer. */
interface Waiter {
  resolve: (retryAfterSec: number | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Token buckets shared by all processes: the bucket is a row in PostgreSQL, and no process ever holds a token.
 *
 * Why a burst gets exactly the tokens of its bucket, with any number of processes: a statement asks for as many tokens
 * as requests wait here when it is sent. Waiting requests do not leave, so every granted token has its request at once.
 * The bucket refuses only when it has less than one token, under its row lock. So no request is refused while a token
 * exists anywhere, and none passes without one. Tokens fetched ahead would break this: they lie in one process while
 * another refuses.
 *
 * Requests that arrive during a fetch share the next one. Under a high limit each fetch also lasts at least 2 ms, so that
 * its cost does not grow with the requests. The first request after a pause never waits for this.
 *
 * Written by hand: libraries keep buckets in one process or in Redis; here it is one statement and these lines.
 */
export function createRateLimiter(db: Queryable, clock: Clock) {
  const queues = new Map<string, Waiter[]>();
  const takeTokens = batching.createBatcher<Fetch, Grant | undefined>({
    isItemError,
    maxBatch: 256,
    maxWaiting,
    gather: batching.whileOthersJoin,
    run: (fetches, lockWait) => takeAll(db, clock, fetches, lockWait),
    ownLanes: {
      ...batching.lockTimeoutLanes(clock),
      keyOf: ({ partnerId, mode, kind }) => `${partnerId} ${mode} ${kind}`,
      findLocked: fetches => findLockedBuckets(db, fetches),
      maxWaitingApart: maxWaiting,
    },
  });

  async function fetchTokens(fetch: Fetch): Promise<void> {
    const { waiters } = fetch;
    try {
      let grant: Grant | undefined;
      while (!grant) grant = await takeTokens(fetch);
      const { granted, asked, retryAfterSec } = grant;
      for (const { resolve } of waiters.splice(0, granted)) resolve(undefined);
      // Requests that came after the statement was sent, or after a partial grant, are in the next one.
      if (granted > 0) return;
      for (const { resolve } of waiters.splice(0, asked)) resolve(Math.max(1, Math.ceil(retryAfterSec)));
    } catch (error) {
      for (const { reject } of waiters.splice(0)) reject(error);
    }
  }

  async function serve(name: string, fetch: Fetch): Promise<void> {
    queues.set(name, fetch.waiters);
    while (fetch.waiters.length > 0) {
      const pause = fetch.perSecond >= highPerSecond ? clock.sleep(gatherMs) : undefined;
      await Promise.all([fetchTokens(fetch), pause]);
    }
    queues.delete(name);
  }

  return {
    /** Undefined when the request is allowed, else the whole seconds to wait (Retry-After). */
    take: ({ partnerId, mode, limits }: Caller, kind: RequestKind) =>
      new Promise<number | undefined>((resolve, reject) => {
        const { perSecond, burst } = bucketOf(limits, kind);
        // The limits are part of the name: just after a change, requests with the old and the new ones wait here.
        const name = `${partnerId} ${mode} ${kind} ${perSecond} ${burst}`;
        const waiter = { resolve, reject };
        const waiters = queues.get(name);
        if (waiters) waiters.push(waiter);
        else void serve(name, { partnerId, mode, kind, perSecond, burst, waiters: [waiter] });
      }),
  };
}

/** A request for tokens of one bucket. */
interface Fetch extends AccountKey {
  kind: RequestKind;
  perSecond: number;
  burst: number;
  waiters: Waiter[];
}

interface Grant {
  granted: number;
  /** How many requests waited when the statement was sent. */
  asked: number;
  retryAfterSec: number;
}

/**
 * Takes from many buckets at once: a function that is called for each costs twice as much. They are locked in a fixed order, so that
 * processes do not deadlock. A process whose clock is behind another's neither fills nor empties a bucket.
 */
const takeStatement = `
  WITH filled AS MATERIALIZED (
    SELECT k.*, call.argument AS at,
           least(k.burst, b.tokens + k.per_second * greatest(0, extract(epoch FROM call.argument - b.filled_at))) AS tokens
      FROM ${commitsWithoutWaiting}, ${batching.setsLockTimeout('$8', '$7::timestamptz')},
           unnest($1::uuid[], $2::mode[], $3::text[], $4::float8[], $5::float8[], $6::int[])
           WITH ORDINALITY AS k (partner_id, mode, kind, per_second, burst, wanted, item)
      JOIN rate_buckets b USING (partner_id, mode, kind)
     ORDER BY partner_id, mode, kind FOR UPDATE OF b
  )
  UPDATE rate_buckets b SET tokens = f.tokens - f.granted, filled_at = greatest(b.filled_at, f.at)
    FROM (SELECT *, least(wanted, floor(tokens))::int AS granted FROM filled) AS f
   WHERE b.partner_id = f.partner_id AND b.mode = f.mode AND b.kind = f.kind
  RETURNING f.item::int, f.wanted AS asked, f.granted,
            CASE WHEN f.granted > 0 THEN 0 ELSE (1 - f.tokens) / f.per_second END AS "retryAfterSec"`;

/** Undefined for a bucket that was missing, and for one of two fetches from one bucket: they have to ask again. */
async function takeAll(db: Queryable, clock: Clock, fetches: Fetch[], lockWait: batching.LockWait) {
  const { rows } = await db.query<Grant & { item: number }>({
    name: 'take tokens',
    text: takeStatement,
    values: [
      ...bucketsOf(fetches),
      fetches.map(({ perSecond }) => perSecond),
      fetches.map(({ burst }) => burst),
      fetches.map(({ waiters }) => waiters.length),
      instantOf(clock),
      batching.lockTimeoutOf(lockWait),
    ],
  });
  const grants = new Array<Grant | undefined>(fetches.length).fill(undefined);
  for (const { item, ...grant } of rows) grants[item - 1] = grant;
  const missing = fetches.filter((_fetch, index) => !grants[index]);
  if (missing.length > 0) await addBuckets(db, clock, missing);
  return grants;
}

const bucketsOf = (fetches: Fetch[]) => [
  fetches.map(({ partnerId }) => uuidFromId(partnerId)),
  fetches.map(({ mode }) => mode),
  fetches.map(({ kind }) => kind),
];

/** Full ones, in a fixed order. */
const addBuckets = (db: Queryable, clock: Clock, fetches: Fetch[]) =>
  db.query({
    text: `INSERT INTO rate_buckets (partner_id, mode, kind, tokens, filled_at)
           SELECT k.*, $5 FROM unnest($1::uuid[], $2::mode[], $3::text[], $4::float8[]) AS k ORDER BY 1, 2, 3
           ON CONFLICT DO NOTHING`,
    values: [...bucketsOf(fetches), fetches.map(({ burst }) => burst), instantOf(clock)],
  });

const findLockedBuckets = (db: Queryable, fetches: Fetch[]) =>
  batching.findLockedRows(db, fetches, 'rate_buckets', [
    ['partner_id', 'uuid', ({ partnerId }) => uuidFromId(partnerId)],
    ['mode', 'mode', ({ mode }) => mode],
    ['kind', 'text', ({ kind }) => kind],
  ]);
