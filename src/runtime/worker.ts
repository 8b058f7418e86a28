import { OperatorError } from '../base/operator-error.ts';
import { startAuditChain } from '../db/audit-chain.ts';
import { createHeadKeeper, openAuditHeads } from '../db/audit-heads.ts';
import { listen as listenTo } from '../db/listen.ts';
import { startPruning } from '../db/prune.ts';
import { bringCopies } from '../db/shards/copies.ts';
import { restoreCredits, startDepositWatchers } from '../deposits/index.ts';
import {
  startHistoryRecovery,
  startNightlyArchive,
  startReconciler,
  startRecovery,
  startRefundReader,
  startSweeper,
} from '../payments/index.ts';
import { createRateSources, rulesChanged, startRateRefresher } from '../rates/index.ts';
import { createSharedSlots, type SlotShare, startDelivery } from '../webhooks/index.ts';
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
  const isOnCitus = Boolean(parts.pool.options.distributed?.length);
  const restore = isOnCitus ? (certainAt: Date) => restoreCredits(parts, certainAt) : undefined;
  cleanups.push(startHistoryRecovery({ ...parts, restoreCredits: restore }).stop);
  cleanups.push(startReconciler(parts), startSweeper(parts));
  cleanups.push(startRefundReader(parts));
  cleanups.push(startNightlyArchive(parts));
  cleanups.push(startDepositWatchers(parts), startPruning(parts, createPrunes(parts, poolsOf(parts))));
  const shards = parts.shards.all();
  const [first, further] = [createSharedSlots(shards.length), createSharedSlots(shards.length)];
  for (const shard of shards)
    startShardWork(
      {
        ...parts,
        ...shard,
        slotShares: { first: first.of(shard.number), further: further.of(shard.number) },
      },
      channel,
      cleanups,
    );
  // Refunds are read for all shards together, and are few.
  if (shards.length > 1)
    parts.signals.paymentFinished.subscribe(paymentId => {
      for (const { signals } of shards) signals.paymentFinished.emit(paymentId);
    });
}

const poolsOf = ({ shards }: SharedParts) => shards.all().map(({ pool }) => pool);

type ShardParts = Omit<SharedParts, 'gateway'> &
  ReturnType<SharedParts['shards']['of']> & { slotShares: { first: SlotShare; further: SlotShare } };

/** The payments and webhooks of one shard. */
function startShardWork(parts: ShardParts, channel: ClusterChannel, cleanups: Cleanup[]): void {
  const recovery = startRecovery(parts);
  const delivery = startDelivery(parts);
  cleanups.push(recovery.stop, delivery.stop);

  // The transaction that finishes a payment writes its event to the outbox. The process that holds the lease on the
  // partner's webhook sends it, and that may be any process: each is woken here instead of at its next poll.
  const { paymentFinished, testClockMoved } = parts.signals;
  const announce = () => {
    delivery.runNow();
    channel.announceEvents(parts.number);
  };
  paymentFinished.subscribe(announce);
  channel.onEventsAnnounced(parts.number, delivery.runNow);

  testClockMoved.subscribe(recovery.runNow);
  testClockMoved.subscribe(announce);
}

function startRates(parts: SharedParts, cleanups: Cleanup[]): void {
  const { pool, alarms, log, rateSources } = parts;
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
    bringCopies: () => bringCopies(pool),
    reportAlarms: found => alarms.report('rate', found),
    onError: err => log.error({ err }, 'the rate could not be refreshed'),
  });
  const rules = listenTo(pool, rulesChanged, refresher.runNow);
  cleanups.push(refresher.stop, rules.close);
}
