import { type Alarms, listAlarms } from '../../alarms/index.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, parseId, timeOfId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import { type Difference, type differenceObject, type ReconcileDeps, reconcile } from './reconcile.ts';

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

/**
 * Compares what was not compared for good before: at least the last day, since the last run at least, and from the
 * oldest payment on that was open then. Each difference is an alarm of its own, which ends when a later run finds the
 * payment in order, or an operator says so; but not because it has become old.
 */
export async function reconcileRecent(deps: ReconcilerDeps, signal?: AbortSignal): Promise<void> {
  const { alarms, pool } = deps;
  const nowMs = deps.clock.nowMs();
  const from = new Date(Math.min(nowMs - dayMs, await comparedUntilMs(pool, nowMs)));
  const period = { from, until: new Date(nowMs) };
  const { runId, differences } = await reconcile(deps, actor, period, signal && { signal });
  const off = new Set<string>();
  for (const { kind, paymentId } of differences.filter(worthAnAlarm)) {
    off.add(paymentId);
    await alarms.raise({
      kind: differs,
      subject: paymentId,
      detail: `${kind}, in run ${runId}: see kopeck reconcile.`,
    });
  }
  for (const { kind, subject: paymentId } of await listAlarms(pool, { cleared: false })) {
    const id = kind === differs && parseId('pay', paymentId);
    if (id && timeOfId(id) >= from.getTime() && !off.has(id)) await alarms.clear(differs, id);
  }
  await alarms.clear('reconciliation_failed', subject);
}

const actor = 'kopeck';
const differs = 'reconciliation_differs';
/** However long nobody compared, further back than this is a matter for people. */
const furthestMs = 31 * dayMs;

async function comparedUntilMs(db: Queryable, nowMs: number): Promise<number> {
  const { rows } = await db.query<{ until_at: Date; differences: ReturnType<typeof differenceObject>[] }>({
    text: `SELECT until_at, differences FROM reconciliations
            WHERE actor = $1 AND finished_at IS NOT NULL ORDER BY id DESC LIMIT 1`,
    values: [actor],
  });
  const [last] = rows;
  if (!last) return nowMs;
  const openThen = last.differences
    .filter(({ kind }) => kind === 'still_open')
    .map(({ payment_id }) => timeOfId(payment_id as Id<'pay'>));
  return Math.max(Math.min(last.until_at.getTime(), ...openThen), nowMs - furthestMs);
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
      await reconcileRecent(deps, stop.signal);
    } catch (err) {
      await tryAgainSoon(pool, clock).catch(() => {});
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
