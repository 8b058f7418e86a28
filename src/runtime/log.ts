import { type DestinationStream, type LogFn, pino } from 'pino';
import type { Clock } from '../base/clock.ts';
import type { Settings } from '../base/settings.ts';
import * as postgres from '../db/postgres/index.ts';

/**
 * Longer than the client's limit for a statement: what was sent during an outage may fail this long after its end, and
 * belongs to it.
 */
const quietMs = 10_000;

/**
 * The log of a process. An outage of the database is logged when it begins and when it ends. What fails because of it,
 * each request and each round of background work, is logged for debugging only: hundreds of stacks would say the same.
 * Statements that an overloaded server ends are logged without a stack.
 */
export function createLog(
  { logLevel: level }: Pick<Settings, 'logLevel'>,
  clock: Pick<Clock, 'monotonicMs'>,
  destination: DestinationStream = pino.destination(1),
) {
  let outage: { sinceMs: number; lastFailureMs: number; isOldHistory?: true } | undefined;
  const log = pino({ level, hooks: { logMethod } }, destination);

  function logMethod(this: pino.Logger, args: Parameters<LogFn>, method: LogFn): void {
    const [details, message] = args as unknown as [{ err?: unknown } | string, string];
    const err = typeof details === 'object' ? details.err : undefined;
    if (!postgres.isDatabaseUnavailable(err)) return void method.apply(this, args);
    const reason = reasonOf(err as Error);
    const { err: _err, ...others } = details as { err?: unknown };
    if (!postgres.isDatabaseUnreachable(err))
      return void method.apply(this, [{ ...others, reason }, message]);
    databaseFailed(reason);
    log.debug({ ...others, reason }, message);
  }

  function databaseFailed(reason: string): void {
    const nowMs = clock.monotonicMs();
    if (!outage) log.error({ reason }, 'the database is not available: requests get 503 until it is');
    outage = { ...outage, sinceMs: outage?.sinceMs ?? nowMs, lastFailureMs: nowMs };
  }

  /** A server answers, but not the right one. An old history gets a line of its own: the outage may have begun with another reason. */
  function databaseRefused(why: postgres.NotAnsweringError): void {
    const reason = why.message;
    databaseFailed(reason);
    if (!(why instanceof postgres.OldHistoryError) || outage!.isOldHistory) return;
    outage!.isOldHistory = true;
    log.error({ reason }, 'the address of the database leads to an old history, which is not joined');
  }

  function databaseWorks(): void {
    if (!outage || clock.monotonicMs() - outage.lastFailureMs < quietMs) return;
    const seconds = Math.round((outage.lastFailureMs - outage.sinceMs) / 100) / 10;
    log.warn({ seconds }, 'the database is available again');
    outage = undefined;
  }

  return { log, databaseFailed, databaseRefused, databaseWorks };
}

/** Several addresses that all refused have only a code. */
const reasonOf = ({ message, code }: Error & { code?: string }) => message || `${code}`;
