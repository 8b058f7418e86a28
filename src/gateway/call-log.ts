import { createBoundedCache } from '../base/bounded-cache.ts';
import type { Clock } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { BatcherFullError, createBatcher } from '../db/batching/index.ts';
import { columnsOf, isItemError, type Pool, type Queryable, readRows } from '../db/postgres/index.ts';
import { keepPartitions } from '../db/retention/index.ts';
import type { GatewayCall } from './call.ts';

interface CallLogDeps {
  db: Queryable;
  clock: Clock;
  log: { warn(details: object, message: string): void };
  /** So many calls may wait to be written; more are lost. */
  maxWaiting?: number;
}

/** Long enough that the calls of a busy second share a few statements, short enough for an operator who watches. */
const gatherMs = 200;
/** Calls that resolved a QR code, kept until the code is paid. */
const maxResolved = 1_000;
const warnIntervalMs = 10_000;

/** Stores the calls to the gateway and their answers, for support. */
export function createCallLog({ db, clock, log, maxWaiting = 2_000 }: CallLogDeps) {
  const stop = new AbortController();
  const underWay = new Set<Promise<void>>();
  const resolved = createBoundedCache<GatewayCall>(maxResolved);
  let lost = 0;
  let warnedAtMs = Number.NEGATIVE_INFINITY;

  const write = createBatcher<GatewayCall, undefined>({
    run: async calls => {
      await insert(db, calls);
      return calls.map(() => undefined);
    },
    isItemError,
    maxBatch: 256,
    maxWaiting,
    gather: () => clock.sleep(gatherMs, stop.signal),
  });

  function countLost(err: unknown): void {
    lost += 1;
    if (clock.monotonicMs() - warnedAtMs < warnIntervalMs) return;
    warnedAtMs = clock.monotonicMs();
    const why = err instanceof BatcherFullError ? 'too many are waiting' : 'the database did not store them';
    log.warn({ err, lost }, `calls are missing from the gateway call log: ${why}`);
  }

  function store(call: GatewayCall): void {
    const written = write(call)
      .catch(countLost)
      .finally(() => underWay.delete(written)) as Promise<void>;
    underWay.add(written);
  }

  return {
    /** Returns at once and never throws: a payment does not depend on its log. */
    record: (call: GatewayCall): void => {
      const { paymentId, qrUrl } = call;
      if (!paymentId) {
        if (qrUrl !== undefined) resolved.set(qrUrl, call);
        return;
      }
      const before = qrUrl === undefined ? undefined : resolved.get(qrUrl);
      if (before) store({ ...before, paymentId });
      store(call);
    },
    /** How many calls could not be stored. */
    lost: () => lost,
    /** Writes what is waiting. */
    stop: async () => {
      stop.abort();
      await Promise.all(underWay);
    },
  };
}

const insert = (db: Queryable, calls: GatewayCall[]) =>
  db.query({
    name: 'record gateway calls',
    text: `INSERT INTO gateway_calls (payment_id, at, call, duration_ms, status, outcome, request, response, error)
           SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::int[], $5::int[], $6::text[], $7::text[],
                                $8::text[], $9::text[])`,
    values: [
      calls.map(({ paymentId }) => uuidFromId(paymentId!)),
      calls.map(({ startedAtMs }) => new Date(startedAtMs)),
      ...columnsOf(calls, 'call', 'durationMs', 'status', 'outcome', 'request', 'response', 'error'),
    ],
  });

/** A call as it was logged. */
export interface PastCall extends Omit<GatewayCall, 'paymentId' | 'qrUrl' | 'startedAtMs'> {
  at: Date;
  /** So many calls before this one are not in the list. */
  omittedBefore: number;
}

const firstCalls = 20;

/** The calls about a payment, oldest first; if there are very many, the first and the last ones. */
export const listCalls = (db: Queryable, paymentId: Id<'pay'>, maxLast = 200) =>
  readRows<PastCall>(db, {
    text: `SELECT at, call, duration_ms AS "durationMs", status, outcome, request, response, error,
                  CASE row_number() OVER (ORDER BY id) WHEN ${firstCalls + 1} THEN greatest(t.total - ${firstCalls} - $2, 0) ELSE 0 END::int
                    AS "omittedBefore"
             FROM ((SELECT * FROM gateway_calls WHERE payment_id = $1 ORDER BY id LIMIT ${firstCalls})
                   UNION
                   (SELECT * FROM gateway_calls WHERE payment_id = $1 ORDER BY id DESC LIMIT $2)) AS c,
                  (SELECT count(*) AS total FROM gateway_calls WHERE payment_id = $1) AS t
            ORDER BY id`,
    values: [uuidFromId(paymentId), maxLast],
  });

export const pruneCalls = (pool: Pool, clock: Clock) =>
  keepPartitions(pool, clock, { table: 'gateway_calls', since: 'at', keptDays: 90 });
