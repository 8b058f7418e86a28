import { type Alarms, listAlarms } from '../../alarms/index.ts';
import { startBackgroundLoop } from '../../base/background-loop.ts';
import { type Clock, dayMs, hourMs } from '../../base/clock.ts';
import { type Id, parseId, timeOfId } from '../../base/ids.ts';
import { findRow, type Queryable } from '../../db/postgres/index.ts';
import { claimRound } from '../refunds/read-refunds.ts';
import { type differenceObject, type ReconcileDeps, reconcile } from './reconcile.ts';
import type { Difference } from './refund-differences.ts';
import { hourlyActor } from './runs.ts';

export interface ReconcilerDeps extends ReconcileDeps {
  alarms: Alarms;
  log: { error(details: object, message: string): void };
}

const runIntervalMs = hourMs;
const retryAfterMs = 300_000;
const claimIntervalMs = 30_000;
/** A payment that stays open has its own alarm, `payment_overdue`. */
const needsAlarm = (difference: Difference) => difference.kind !== 'still_open';

const descriptions: Record<Difference['kind'], string> = {
  paid_there_not_here: 'The gateway has paid it, but it has not succeeded here',
  here_not_there: 'It has succeeded here, but the gateway has not paid it',
  amounts_differ: 'The amounts here and at the gateway differ',
  still_open: 'It is not completed yet',
  refunds_differ: 'The refunds here and at the gateway differ',
};

/**
 * Compares all payments that no earlier run has compared for good: those of the last day, those since the last run, and
 * those since the oldest payment that was open in that run. Each difference raises an alarm. It ends when a later run
 * finds the payment in order, or when an operator ends it; but not because the payment has left the period, nor in a run
 * with more differences than it keeps, which cannot say of any payment that it is in order.
 */
export async function reconcileRecent(deps: ReconcilerDeps, signal?: AbortSignal): Promise<void> {
  const { alarms, pool } = deps;
  const nowMs = deps.clock.nowMs();
  const from = new Date(Math.min(nowMs - dayMs, await comparedUntilMs(pool, nowMs)));
  const period = { from, until: new Date(nowMs) };
  const { runId, differences, isComplete, refundFailure } = await reconcile(
    deps,
    hourlyActor,
    period,
    signal && { signal },
  );
  const differing = new Set<string>();
  for (const { kind, paymentId } of differences.filter(needsAlarm)) {
    differing.add(paymentId);
    await alarms.raise({
      kind: differs,
      subject: paymentId,
      detail: `${descriptions[kind]} (reconciliation ${runId}).`,
    });
  }
  for (const { kind, subject: paymentId } of isComplete ? await listAlarms(pool, { cleared: false }) : []) {
    const id = kind === differs && parseId('pay', paymentId);
    const isInPeriod = id && timeOfId(id) >= from.getTime() && timeOfId(id) < nowMs;
    if (isInPeriod && !differing.has(id)) await alarms.clear(differs, id);
  }
  if (refundFailure) throw refundFailure;
  await alarms.clear('reconciliation_failed', subject);
}

const differs = 'reconciliation_differs';
/** After a longer outage, an operator reconciles the older days. */
const maxPeriodMs = 31 * dayMs;

async function comparedUntilMs(db: Queryable, nowMs: number): Promise<number> {
  const last = await findRow<{
    from_at: Date;
    until_at: Date;
    differences: ReturnType<typeof differenceObject>[];
    is_complete: boolean;
  }>(db, {
    text: `SELECT from_at, until_at, differences, is_complete FROM reconciliations
            WHERE actor = $1 AND finished_at IS NOT NULL ORDER BY id DESC LIMIT 1`,
    values: [hourlyActor],
  });
  if (!last) return nowMs;
  const openThen = last.differences
    .filter(({ kind }) => kind === 'still_open')
    .map(({ payment_id }) => timeOfId(payment_id as Id<'pay'>));
  // A run that did not keep all differences may have left out a payment that was open then.
  const compared = last.is_complete ? last.until_at : last.from_at;
  return Math.max(Math.min(compared.getTime(), ...openThen), nowMs - maxPeriodMs);
}

const subject = 'reconciliation';

/** One hourly run over all processes. */
const runs = { everyMs: runIntervalMs, skewMs: claimIntervalMs };

const claimAgainSoon = (db: Queryable, clock: Clock) =>
  db.query({
    text: 'UPDATE service SET reconciled_at = $1',
    values: [new Date(clock.nowMs() - runIntervalMs + retryAfterMs)],
  });

/** Reconciles once an hour, in one of the processes that run this. */
export function startReconciler(deps: ReconcilerDeps): () => Promise<void> {
  const { pool, clock, alarms, log } = deps;

  async function runHour(signal: AbortSignal): Promise<void> {
    if (!(await claimRound(pool, clock, 'reconciled_at', runs))) return;
    try {
      await reconcileRecent(deps, signal);
    } catch (err) {
      await claimAgainSoon(pool, clock).catch(() => {});
      if (signal.aborted) return;
      log.error({ err }, 'reconciliation failed');
      await alarms.raise({ kind: 'reconciliation_failed', subject, detail: String(err) });
    }
  }

  return startBackgroundLoop({
    clock,
    everyMs: claimIntervalMs,
    work: runHour,
    onError: err => log.error({ err }, 'reconciliation could not be claimed'),
  }).stop;
}
