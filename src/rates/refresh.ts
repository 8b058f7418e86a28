import { type BackgroundLoop, startBackgroundLoop } from '../base/background-loop.ts';
import { type Clock, instantOf } from '../base/clock.ts';
import { hasRow, type Queryable } from '../db/postgres/index.ts';
import {
  type Alarm,
  type Answer,
  combine,
  midsSinceConfirmed,
  type RateBounds,
  type RateSource,
} from './combine.ts';
import { readRateRules } from './rules.ts';
import { type CurrentRate, listHourBefore, readCurrentRate, storeRate } from './store.ts';

export interface RefreshDeps {
  db: Queryable;
  clock: Clock;
  sources: RateSource[];
  /** Until an operator changes the rules. */
  spreadBps: number;
  maxAgeSec: number;
  bounds: RateBounds;
  /** Called after every refresh with all current alarms; an empty list ends the earlier ones. */
  reportAlarms(alarms: Alarm[]): void;
  /** For metrics: what the sources answered. */
  onAnswers?(answers: Answer[]): void;
}

const never = new AbortController().signal;

/** Asks all sources at once and stores the rate that follows; undefined when there is none, with an alarm. */
export async function refreshRate(deps: RefreshDeps, signal = never): Promise<CurrentRate | undefined> {
  const { db, clock, sources, spreadBps, maxAgeSec, bounds, reportAlarms } = deps;
  const answers = await Promise.all(sources.map(source => ask(source, signal)));
  // After a stop the calls were cut off by us: their failures are not those of the sources.
  signal.throwIfAborted();
  deps.onAnswers?.(answers);
  // Read after asking the sources: rules that were changed meanwhile are in force already.
  const [last, current, hour] = await Promise.all([
    readCurrentRate(db),
    readRateRules(db, spreadBps),
    listHourBefore(db, instantOf(clock)),
  ]);
  const recentMidsE4 = midsSinceConfirmed(hour, current);
  const rules = { ...current, nowMs: clock.nowMs(), maxAgeSec, bounds, lastMidE4: last?.midE4, recentMidsE4 };
  const { rate, alarms } = combine(answers, rules);
  const stored = rate && (await storeRate(db, clock, rate));
  reportAlarms(alarms);
  return stored;
}

/** Any error makes the source a failed one and never ends the refresh of the others. */
async function ask(source: RateSource, signal: AbortSignal): Promise<Answer> {
  const { name, isSetByOperator = false } = source;
  try {
    return { source: name, isSetByOperator, quote: await source.fetch(signal) };
  } catch (error) {
    return { source: name, reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // When several addresses were tried in vain, the message is empty and only the code is set.
  return (message || code || 'failed').slice(0, 200);
}

/** Longer than a refresh takes: one that has stored nothing by then has failed or its process has died. */
const maxRefreshMs = 10_000;

/**
 * Leader election: true for one caller per period, over all processes. A claim whose refresh stored no rate counts only
 * as long as a refresh can take; otherwise a failed first refresh would leave the service without a rate for a whole
 * period. A claim from the future does not count: a clock that was wrong for a moment must not stop all processes.
 */
export async function claimRefresh(db: Queryable, clock: Clock, refreshSec: number): Promise<boolean> {
  const nowMs = clock.nowMs();
  return hasRow(db, {
    text: `UPDATE rate_refresh SET claimed_at = $1
            WHERE claimed_at <= $2
               OR claimed_at > $4
               OR (claimed_at <= $3
                   AND coalesce((SELECT created_at FROM rates ORDER BY id DESC LIMIT 1), '-infinity') <= $2)
           RETURNING claimed_at`,
    values: [
      new Date(nowMs),
      new Date(nowMs - refreshSec * 1_000),
      new Date(nowMs - maxRefreshMs),
      new Date(nowMs + maxRefreshMs),
    ],
  });
}

/**
 * Keeps the rate fresh for as long as this process runs. Every process has this loop, and the claim elects the one that
 * refreshes.
 */
export function startRateRefresher(
  deps: RefreshDeps & { refreshSec: number; onError(error: unknown): void },
): BackgroundLoop {
  const { db, clock, refreshSec, onError } = deps;
  return startBackgroundLoop({
    clock,
    // More often than a long period: the claim decides, and a round without it costs little.
    everyMs: Math.min(refreshSec * 1_000, maxRefreshMs),
    work: async signal => {
      try {
        if (await claimRefresh(db, clock, refreshSec)) await refreshRate(deps, signal);
      } catch (error) {
        // A refresh that `stop` has cut off is no error.
        if (!signal.aborted) throw error;
      }
    },
    onError,
  });
}
