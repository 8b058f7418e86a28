import { OperatorError } from '../base/operator-error.ts';
import { createHeadKeeper, openAuditHeads, startAuditChain } from '../db/audit/index.ts';
import { listen as listenTo } from '../db/postgres/index.ts';
import { startPruning } from '../db/retention/index.ts';
import { startDepositWatchers } from '../deposits/index.ts';
import * as payments from '../payments/index.ts';
import { createRateSources, rulesChanged, startRateRefresher } from '../rates/index.ts';
import { startMonthlyMails } from '../reports/index.ts';
import { startDelivery } from '../webhooks/index.ts';
import type { ClusterChannel } from './cluster-channel.ts';
import type { Cleanup } from './graceful-shutdown.ts';
import { createPrunes } from './prunes.ts';
import { startServerWatch } from './server-watch.ts';
import type { SharedParts } from './shared-parts.ts';

/** The role `worker`: rates, deposits, recovery of unfinished payments and of a lost history, delivery of webhooks, reconciliation, refunds, standbys and WAL archive, the chain of the audit log, the nightly archive, pruning. */
export function startWorker(parts: SharedParts, channel: ClusterChannel, cleanups: Cleanup[]): void {
  startRates(parts, cleanups);
  const heads = openAuditHeads(parts);
  const keepHead = heads && createHeadKeeper(parts, heads);
  cleanups.push(startServerWatch(parts), startAuditChain({ ...parts, keepHead }));
  cleanups.push(
    payments.startHistoryRecovery(parts).stop,
    payments.startReconciler(parts),
    payments.startRefundReader(parts),
  );
  cleanups.push(payments.startNightlyArchive(parts));
  cleanups.push(startDepositWatchers(parts), startPruning(parts, createPrunes(parts)));
  if (parts.smtp) cleanups.push(startMonthlyMails(parts, parts.smtp));
  startPaymentWork(parts, channel, cleanups);
}

function startPaymentWork(parts: SharedParts, channel: ClusterChannel, cleanups: Cleanup[]): void {
  const recovery = payments.startRecovery(parts);
  const delivery = startDelivery(parts);
  cleanups.push(recovery.stop, delivery.stop);

  // The transaction that finishes a payment writes its event to the outbox. The process that holds the lease on the
  // partner's webhook sends it, and that may be any process: each is woken here instead of at its next poll.
  const { eventWritten, testClockMoved } = parts.signals;
  const announce = () => {
    delivery.runNow();
    channel.announceEvents();
  };
  eventWritten.subscribe(announce);
  channel.onEventsAnnounced(delivery.runNow);

  testClockMoved.subscribe(recovery.runNow);
  testClockMoved.subscribe(announce);
}

function startRates(parts: SharedParts, cleanups: Cleanup[]): void {
  const { alarms, log, rateSources } = parts;
  if (!rateSources)
    throw new OperatorError('RATE_SOURCES must be set with GATEWAY_URL: there is no simulator to ask.');
  const refresher = startRateRefresher({
    ...parts,
    sources: createRateSources(rateSources, parts),
    spreadBps: parts.rateSpreadBps,
    refreshSec: parts.rateRefreshSec,
    maxAgeSec: parts.rateMaxAgeSec,
    bounds: parts.rateBounds,
    onAnswers: parts.onRateAnswers,
    reportAlarms: found => alarms.report('rate', found),
    onError: err => log.error({ err }, 'the rate could not be refreshed'),
  });
  const rules = listenTo(parts, rulesChanged, refresher.runNow);
  cleanups.push(refresher.stop, rules.close);
}
