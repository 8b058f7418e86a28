import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import { type Id, parseId, timeOfUuid, uuidFromId } from '../base/ids.ts';
import { createTokenBuckets } from '../base/token-buckets.ts';
import { commitsWithoutWaiting, type Pool, type Queryable } from '../db/postgres/index.ts';
import { keepPartitions } from '../db/retention/index.ts';
import type { Mode } from '../ledger/index.ts';
import { type Bodies, bodiesKeptDays, createBodyBudget, insertBodies } from './bodies.ts';
import { storedPath } from './stored-path.ts';

/** A request to the partner API that was answered. It has no header and, once stored, no query string. */
export interface AnsweredRequest {
  requestId: Id<'req'>;
  /** Undefined: its key is missing, not valid or was not checked. */
  keyHolder?: { partnerId: Id<'prt'>; mode: Mode; keyId: string } | undefined;
  /** False: it did not pass the rate limit of a partner, so nothing else bounds how many there are. */
  isAdmitted: boolean;
  /** The network that it came from, if it failed (5xx). It is not stored. */
  network?: string | undefined;
  /** Undefined: it was not valid HTTP. */
  method?: string | undefined;
  /** The pattern of its route; if there is none, its URL. */
  route?: string | undefined;
  url?: string | undefined;
  /** The payment that it created or asked for, as it was sent. */
  paymentId?: string | undefined;
  status: number;
  errorCode?: string | undefined;
  durationMs: number;
  /** Undefined: its partner has not asked for bodies in the log. */
  bodies?: Bodies | undefined;
}

export type RequestLog = ReturnType<typeof createRequestLog>;

interface RequestLogDeps {
  /** A connection of its own: the log never waits in front of a payment. */
  db: Queryable;
  clock: Clock;
  log: { warn(details: object, message: string): void };
  /** While it says no, requests wait here. */
  isDatabaseAnswering(): boolean;
  /** So many requests may wait to be written; more are lost. */
  maxWaiting?: number;
}

const roundMs = 1_000;
/** Small enough that neither the event loop nor the server is busy with one statement for long. */
const maxBatch = 1_000;
/** To wait for the connection and for the statement. */
const writeWithinMs = 4_000;
/** For all of the batches. */
const stopWithinMs = 5_000;
const warnIntervalMs = 10_000;

/** Stores which requests were answered how, for support. */
export function createRequestLog(deps: RequestLogDeps) {
  const { db, clock, log, maxWaiting = 10_000 } = deps;
  const budget = createRefusedBudget(clock);
  const bodyBudget = createBodyBudget(clock);
  const waiting: WaitingRequest[] = [];
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

  /** Returns how many were written; 0: there is nothing to write, or it is better to try again later. */
  async function writeSome(withinMs: number): Promise<number> {
    if (waiting.length === 0 || !deps.isDatabaseAnswering()) return 0;
    const batch = waiting.splice(0, maxBatch);
    writing = batch.length;
    const written = await within(clock, withinMs, insertAll(db, batch, withinMs)).then(
      () => batch.length,
      err => {
        countLost('failed', batch.length, err);
        return 0;
      },
    );
    writing = 0;
    return written;
  }

  const loop = startBackgroundLoop({
    clock,
    everyMs: roundMs,
    work: async signal => {
      // What came meanwhile waits for the next round, unless there is enough of it for a whole statement.
      while (!signal.aborted && (await writeSome(writeWithinMs)) === maxBatch);
    },
    onError: err => countLost('failed', 0, err),
  });

  return {
    /** Returns at once and never throws: no answer depends on its log. */
    record: (request: AnsweredRequest): void => {
      if (!request.isAdmitted && !budget(request)) lost.limited += 1;
      else if (waiting.length + writing >= maxWaiting) countLost('full', 1);
      else waiting.push(toWaiting(request, bodyBudget(request)));
    },
    /** How many requests could not be stored, or were too many. */
    lost: () => lost,
    /** Writes what is waiting, for a few seconds at most. */
    stop: async () => {
      const untilMs = clock.monotonicMs() + stopWithinMs;
      const leftMs = () => untilMs - clock.monotonicMs();
      await loop.stop();
      while (leftMs() > 0 && (await writeSome(Math.min(leftMs(), writeWithinMs))) > 0);
      if (waiting.length > 0) countLost('failed', waiting.length);
    },
  };
}

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

/** Bounds how many requests are recorded that no rate limit bounds. */
function createRefusedBudget(clock: Clock): (request: AnsweredRequest) => boolean {
  const takeRefusal = createTokenBuckets(clock, refused);
  const takeFailure = createTokenBuckets(clock, failed);
  const takeAnyFailure = createTokenBuckets(clock, allFailed);
  return ({ keyHolder, network = '', status }) =>
    status < 500
      ? takeRefusal(keyHolder?.partnerId ?? '') === undefined
      : takeFailure(keyHolder?.partnerId ?? network) === undefined && takeAnyFailure('') === undefined;
}

/** What waits to be written. Neither a URL nor anything else of any length that the caller has sent, but bodies within their budget. */
const toWaiting = (request: AnsweredRequest, bodies: Bodies | undefined) => ({
  requestId: request.requestId,
  keyHolder: request.keyHolder,
  method: request.method,
  path: request.route ?? (request.url === undefined ? undefined : storedPath(request.url)),
  paymentId: request.paymentId === undefined ? undefined : parseId('pay', request.paymentId),
  status: request.status,
  errorCode: request.errorCode,
  durationMs: request.durationMs,
  bodies,
});
type WaitingRequest = ReturnType<typeof toWaiting>;

async function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = clock.timer(ms, () => reject(new Error(`not stored within ${Math.round(ms)} ms`)));
  await Promise.race([work, late]).finally(cancel);
}

/** One text per column: to join texts costs a fraction of what the driver needs for an array. None of them has a line break. */
const column = (values: (string | number | undefined)[]) => values.join('\n');
const columnOf = (parameter: number, type: string) => `string_to_array($${parameter}, E'\\n', '')::${type}[]`;

async function insertAll(db: Queryable, requests: WaitingRequest[], withinMs: number): Promise<void> {
  await insert(db, requests, withinMs);
  if (requests.some(({ bodies }) => bodies)) await insertBodies(db, requests, withinMs);
}

async function insert(db: Queryable, requests: WaitingRequest[], withinMs: number): Promise<void> {
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
      column(requests.map(({ path }) => path)),
      column(requests.map(({ paymentId }) => paymentId && uuidFromId(paymentId))),
      column(requests.map(({ status }) => status)),
      column(requests.map(({ errorCode }) => errorCode)),
      column(requests.map(({ durationMs }) => Math.round(durationMs))),
    ],
    query_timeout: withinMs,
  });
}

export const pruneRequestLog = async (pool: Pool, clock: Clock, keptDays: number): Promise<number> => {
  const log = { since: 'at', partitionDays: 1 } as const;
  const requests = await keepPartitions(pool, clock, { ...log, table: 'api_requests', keptDays });
  const bodies = { ...log, table: 'api_request_bodies', keptDays: Math.min(keptDays, bodiesKeptDays) };
  return requests + (await keepPartitions(pool, clock, bodies));
};
