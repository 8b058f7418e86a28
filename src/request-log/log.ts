import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import { type Id, parseId, timeOfUuid, uuidFromId } from '../base/ids.ts';
import { keepPartitions } from '../db/partitions.ts';
import type { Pool, Queryable } from '../db/pool.ts';
import { commitsWithoutWaiting } from '../db/unawaited-commit.ts';
import type { Mode } from '../ledger/index.ts';
import { createBudget } from './budget.ts';
import { storedPath } from './stored-path.ts';

/** A request to the partner API that was answered. It has no body, no header and, once stored, no query string. */
export interface AnsweredRequest {
  requestId: Id<'req'>;
  /** Undefined: it carried no valid key. */
  keyHolder: { partnerId: Id<'prt'>; mode: Mode; keyId: string } | undefined;
  /** False: it was refused before, or by, the rate limit of a partner, so nothing else bounds how many there are. */
  isAdmitted: boolean;
  /** Undefined: it was not valid HTTP. */
  method: string | undefined;
  /** The pattern of its route; if there is none, its URL. */
  route: string | undefined;
  url: string | undefined;
  /** Of the payment that it created or asked for, as it was sent. */
  paymentId: string | undefined;
  status: number;
  errorCode: string | undefined;
  durationMs: number;
}

/** Why requests are missing from the log. */
type Loss = 'full' | 'failed' | 'limited';

/** Stores which requests were answered how, for support. */
export interface RequestLog {
  /** Returns at once and never throws: no answer depends on its log. */
  record(request: AnsweredRequest): void;
  /** How many requests could not be stored, or were too many. */
  lost(): Record<Loss, number>;
  /** Writes what is waiting, for a few seconds at most. */
  stop(): Promise<void>;
}

interface RequestLogDeps {
  /** A connection of its own: the log never waits in front of a payment. */
  db: Queryable;
  clock: Clock;
  log: { warn(details: object, message: string): void };
  /** While it says no, requests wait here. */
  isDatabaseAnswering(): boolean;
  /** Of requests that wait to be written; more are lost. */
  maxWaiting?: number;
}

const roundMs = 1_000;
/** Small enough that neither the event loop nor the server is busy with one statement for long. */
const maxBatch = 250;
const statementMs = 4_000;
const stopWithinMs = 5_000;
const warnIntervalMs = 10_000;

export function createRequestLog(deps: RequestLogDeps): RequestLog {
  const { db, clock, log, maxWaiting = 10_000 } = deps;
  const budget = createBudget(clock);
  const waiting: AnsweredRequest[] = [];
  const lost = { full: 0, failed: 0, limited: 0 };
  let writing = 0;
  let warnedAtMs = Number.NEGATIVE_INFINITY;

  function countLost(why: 'full' | 'failed', count: number, err?: unknown): void {
    lost[why] += count;
    if (clock.monotonicMs() - warnedAtMs < warnIntervalMs) return;
    warnedAtMs = clock.monotonicMs();
    const reason = why === 'full' ? 'too many are waiting' : 'the database did not store them';
    log.warn({ err, lost }, `requests are missing from the request log: ${reason}`);
  }

  /** False: there is nothing to write, or it is better to try again later. */
  async function writeSome(): Promise<boolean> {
    if (waiting.length === 0 || !deps.isDatabaseAnswering()) return false;
    const batch = waiting.splice(0, maxBatch);
    writing = batch.length;
    const isWritten = await insert(db, batch).then(
      () => true,
      err => {
        countLost('failed', batch.length, err);
        return false;
      },
    );
    writing = 0;
    return isWritten;
  }

  const loop = startBackgroundLoop({
    clock,
    everyMs: roundMs,
    work: async signal => {
      while (!signal.aborted && (await writeSome()));
    },
    onError: err => countLost('failed', 0, err),
  });

  return {
    record: request => {
      if (!request.isAdmitted && !budget.take(request.keyHolder?.partnerId ?? '')) lost.limited += 1;
      else if (waiting.length + writing >= maxWaiting) countLost('full', 1);
      else waiting.push(request);
    },
    lost: () => lost,
    stop: async () => {
      await loop.stop();
      const untilMs = clock.monotonicMs() + stopWithinMs;
      while (clock.monotonicMs() < untilMs && (await writeSome()));
      if (waiting.length > 0) countLost('failed', waiting.length);
    },
  };
}

/** One text per column: to join texts costs a fraction of what the driver needs for an array. None of them has a line break. */
const column = (values: (string | number | undefined)[]) => values.join('\n');
const columnOf = (parameter: number, type: string) => `string_to_array($${parameter}, E'\\n', '')::${type}[]`;

async function insert(db: Queryable, requests: AnsweredRequest[]): Promise<void> {
  const requestIds = requests.map(({ requestId }) => uuidFromId(requestId));
  const holders = new Map<Id<'prt'>, string>();
  const uuidOf = (partnerId: Id<'prt'>) => {
    const known = holders.get(partnerId) ?? uuidFromId(partnerId);
    holders.set(partnerId, known);
    return known;
  };
  await db.query({
    name: 'record requests',
    text: `INSERT INTO api_requests (request_id, at, partner_id, mode, key_id, method, path, payment_id, status, error_code,
                                     duration_ms)
           SELECT r.request_id, to_timestamp(r.at_ms / 1000), r.partner_id, r.mode, r.key_id, r.method, r.path, r.payment_id,
                  r.status, r.error_code, r.duration_ms
             FROM ${commitsWithoutWaiting},
                  unnest(${columnOf(1, 'uuid')}, ${columnOf(2, 'float8')}, ${columnOf(3, 'uuid')}, ${columnOf(4, 'mode')},
                         ${columnOf(5, 'text')}, ${columnOf(6, 'text')}, ${columnOf(7, 'text')}, ${columnOf(8, 'uuid')},
                         ${columnOf(9, 'smallint')}, ${columnOf(10, 'text')}, ${columnOf(11, 'int')})
                    AS r (request_id, at_ms, partner_id, mode, key_id, method, path, payment_id, status, error_code, duration_ms)`,
    values: [
      column(requestIds),
      column(requestIds.map(timeOfUuid)),
      column(requests.map(({ keyHolder }) => keyHolder && uuidOf(keyHolder.partnerId))),
      column(requests.map(({ keyHolder }) => keyHolder?.mode)),
      column(requests.map(({ keyHolder }) => keyHolder?.keyId)),
      column(requests.map(({ method }) => method)),
      column(requests.map(({ route, url }) => route ?? (url === undefined ? undefined : storedPath(url)))),
      column(requests.map(({ paymentId }) => paymentId && uuidOfPayment(paymentId))),
      column(requests.map(({ status }) => status)),
      column(requests.map(({ errorCode }) => errorCode)),
      column(requests.map(({ durationMs }) => Math.round(durationMs))),
    ],
    query_timeout: statementMs,
  });
}

function uuidOfPayment(text: string): string | undefined {
  const paymentId = parseId('pay', text);
  return paymentId && uuidFromId(paymentId);
}

export const pruneRequestLog = (pool: Pool, clock: Clock, keptDays: number) =>
  keepPartitions(pool, clock, { table: 'api_requests', since: 'at', keptDays, partitionDays: 1 });
