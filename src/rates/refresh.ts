import type { Clock } from '../base/clock.ts';
import type { Queryable } from '../db/pool.ts';
import { type Alarm, type Answer, combine } from './combine.ts';
import { readRateRules } from './rules.ts';
import type { RateSource } from './source.ts';
import { type CurrentRate, readCurrentRate, storeRate } from './store.ts';

export interface RefreshDeps {
  db: Queryable;
  clock: Clock;
  sources: RateSource[];
  /** For as long as nobody has changed the rules. */
  spreadBps: number;
  maxAgeSec: number;
  /** Hears after every refresh all that is wrong now. */
  reportAlarms(alarms: Alarm[]): void;
}

const never = new AbortController().signal;

/** Asks all sources at once and stores what they agree on; undefined when that is nothing, and an alarm says why. */
export async function refreshRate(deps: RefreshDeps, signal = never): Promise<CurrentRate | undefined> {
  const { db, clock, sources, spreadBps, maxAgeSec, reportAlarms } = deps;
  const answers = await Promise.all(sources.map(source => ask(source, signal)));
  // Whoever was told to stop has cut its calls off itself: what failed says nothing about the sources.
  signal.throwIfAborted();
  // Read now and not before the sources were asked: whoever changed the rules meanwhile has been told that they count.
  const [last, standing] = await Promise.all([readCurrentRate(db), readRateRules(db, spreadBps)]);
  const rules = { ...standing, nowMs: clock.nowMs(), maxAgeSec, lastMidE4: last?.midE4 };
  const { rate, alarms } = combine(answers, rules);
  const stored = rate && (await storeRate(db, clock, rate));
  reportAlarms(alarms);
  return stored;
}

/** A source is outside: whatever it throws makes it a failed one and never ends the refresh of the others. */
async function ask(source: RateSource, signal: AbortSignal): Promise<Answer> {
  const { name, isOperatorsWord = false } = source;
  try {
    return { source: name, isOperatorsWord, quote: await source.fetch(signal) };
  } catch (error) {
    return { source: name, reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // With several addresses tried in vain the message is empty and the code says it.
  return (message || code || 'failed').slice(0, 200);
}
