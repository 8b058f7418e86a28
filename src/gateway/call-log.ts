import { createBoundedCache } from '../base/bounded-cache.ts';
import type { Clock } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { BatcherFullError, createBatcher } from '../db/batch.ts';
import { isItemError, type Queryable } from '../db/pool.ts';
import { pruneOlder } from '../db/prune.ts';
import type { Exchange } from './exchange.ts';

/** Keeps what was said to the bank side and what it answered, for support to read. */
export interface CallLog {
  /** Comes back at once and never throws: the payment goes on whatever becomes of the record. */
  record(exchange: Exchange): void;
  /** Conversations that found no place, or could not be written. */
  lost(): number;
  /** Writes what is waiting. */
  stop(): Promise<void>;
}

interface CallLogDeps {
  db: Queryable;
  clock: Clock;
  log: { warn(details: object, message: string): void };
  /** So many wait to be written at the most; the next are lost. */
  mostWaiting?: number;
}

/** Long enough for the calls of a busy second to share a few statements, short enough for whoever looks on. */
const gatherMs = 200;
/** Codes that were resolved, of which some will be paid. */
const mostResolved = 1_000;
const tellLostEveryMs = 10_000;

export function createCallLog({ db, clock, log, mostWaiting = 2_000 }: CallLogDeps): CallLog {
  const stop = new AbortController();
  const underWay = new Set<Promise<void>>();
  const resolved = createBoundedCache<Exchange>(mostResolved);
  let lost = 0;
  let toldAtMs = Number.NEGATIVE_INFINITY;

  const write = createBatcher<Exchange, undefined>({
    run: async exchanges => {
      await insert(db, exchanges);
      return exchanges.map(() => undefined);
    },
    isItemError,
    laneOf: () => 0,
    maxBatch: 256,
    maxWaiting: mostWaiting,
    gather: () => clock.sleep(gatherMs, stop.signal),
  });

  function lose(err: unknown): void {
    lost += 1;
    if (clock.nowMs() - toldAtMs < tellLostEveryMs) return;
    toldAtMs = clock.nowMs();
    const why = err instanceof BatcherFullError ? 'too many are waiting' : 'the database did not take them';
    log.warn({ err, lost }, `calls to the gateway are missing from the record: ${why}`);
  }

  function keep(exchange: Exchange): void {
    const written = write(exchange)
      .catch(lose)
      .finally(() => underWay.delete(written)) as Promise<void>;
    underWay.add(written);
  }

  return {
    record: exchange => {
      const { paymentId, qrUrl } = exchange;
      if (!paymentId) {
        if (qrUrl !== undefined) resolved.set(qrUrl, exchange);
        return;
      }
      const before = qrUrl === undefined ? undefined : resolved.get(qrUrl);
      if (before) keep({ ...before, paymentId });
      keep(exchange);
    },
    lost: () => lost,
    stop: async () => {
      stop.abort();
      await Promise.all(underWay);
    },
  };
}

async function insert(db: Queryable, exchanges: Exchange[]): Promise<void> {
  await db.query({
    name: 'record gateway calls',
    text: `INSERT INTO gateway_calls (payment_id, at, call, duration_ms, status, outcome, request, response, error)
           SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::int[], $5::int[], $6::text[], $7::text[],
                                $8::text[], $9::text[])`,
    values: [
      exchanges.map(({ paymentId }) => uuidFromId(paymentId!)),
      exchanges.map(({ startedAtMs }) => new Date(startedAtMs)),
      exchanges.map(({ call }) => call),
      exchanges.map(({ durationMs }) => durationMs),
      exchanges.map(({ status }) => status),
      exchanges.map(({ outcome }) => outcome),
      exchanges.map(({ request }) => request),
      exchanges.map(({ response }) => response),
      exchanges.map(({ error }) => error),
    ],
  });
}

export interface PastCall {
  at: Date;
  call: Exchange['call'];
  durationMs: number;
  status: number | null;
  outcome: string;
  request: string | null;
  response: string | null;
  error: string | null;
}

const firstCalls = 20;

/** What was said about a payment, the oldest first: how it began, and the last words if there were very many. */
export async function listCalls(
  db: Queryable,
  paymentId: Id<'pay'>,
  mostOfTheLast = 200,
): Promise<PastCall[]> {
  const { rows } = await db.query<PastCall>({
    text: `SELECT at, call, duration_ms AS "durationMs", status, outcome, request, response, error
             FROM ((SELECT * FROM gateway_calls WHERE payment_id = $1 ORDER BY id LIMIT ${firstCalls})
                   UNION
                   (SELECT * FROM gateway_calls WHERE payment_id = $1 ORDER BY id DESC LIMIT $2)) AS c
            ORDER BY id`,
    values: [uuidFromId(paymentId), mostOfTheLast],
  });
  return rows;
}

const keptDays = 90;

export const pruneCalls = (db: Queryable, clock: Clock) =>
  pruneOlder(db, 'gateway_calls', 'at', new Date(clock.nowMs() - keptDays * 86_400_000));
