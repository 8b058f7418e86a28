import type { Alarms } from '../alarms/index.ts';
import { type Clock, instantOf } from '../base/clock.ts';
import type { Queryable } from '../db/pool.ts';
import { type Difference, type ReconcileDeps, reconcile } from './reconcile.ts';

export interface ReconcilerDeps extends ReconcileDeps {
  alarms: Alarms;
  log: { error(details: object, message: string): void };
}

const hourMs = 3_600_000;
const everyMs = hourMs;
const retryMs = 300_000;
const dayMs = 24 * hourMs;
const tryEveryMs = 30_000;
/** Open payments have an alarm of their own. */
const worthAnAlarm = (difference: Difference) => difference.kind !== 'still_open';

/** Compares the last day with the bank side; what is off becomes an alarm, and what is in order ends it. */
export async function reconcileLastDay(deps: ReconcilerDeps, signal?: AbortSignal): Promise<void> {
  const nowMs = deps.clock.nowMs();
  const period = { from: new Date(nowMs - dayMs), until: new Date(nowMs) };
  const { runId, differences } = await reconcile(deps, 'kopeck', period, signal && { signal });
  const off = differences.filter(worthAnAlarm);
  const [first] = off;
  const detail = `Run ${runId}: ${off.length} differences with the bank side, such as ${first?.kind} for ${first?.paymentId}; see kopeck reconcile.`;
  await deps.alarms.report(subject, first ? [{ kind: 'reconciliation_differs', detail }] : []);
}

const subject = 'reconciliation';

/** True for one caller an hour, over all processes; a claim from the future is void. */
async function claimHour(db: Queryable, clock: Clock): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `UPDATE service SET reconciled_at = $1
            WHERE reconciled_at IS NULL OR reconciled_at <= $2 OR reconciled_at > $3 RETURNING true`,
    values: [instantOf(clock), new Date(clock.nowMs() - everyMs), new Date(clock.nowMs() + tryEveryMs)],
  });
  return rowCount === 1;
}

const tryAgainSoon = (db: Queryable, clock: Clock) =>
  db.query({
    text: 'UPDATE service SET reconciled_at = $1',
    values: [new Date(clock.nowMs() - everyMs + retryMs)],
  });

/** Reconciles once an hour for as long as this process runs, together with all others that do the same. */
export function startReconciler(deps: ReconcilerDeps): () => Promise<void> {
  const { pool, clock, alarms, log } = deps;
  const stop = new AbortController();

  async function runHour(): Promise<void> {
    if (!(await claimHour(pool, clock))) return;
    try {
      await reconcileLastDay(deps, stop.signal);
    } catch (err) {
      await tryAgainSoon(pool, clock);
      if (stop.signal.aborted) return;
      log.error({ err }, 'the bank side could not be reconciled with');
      await alarms.raise({ kind: 'reconciliation_failed', subject, detail: String(err) });
    }
  }

  const finished = (async () => {
    while (!stop.signal.aborted) {
      await runHour().catch(err => log.error({ err }, 'reconciliation could not be claimed'));
      await clock.sleep(tryEveryMs, stop.signal);
    }
  })();
  return () => {
    stop.abort();
    return finished;
  };
}
