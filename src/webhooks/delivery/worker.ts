import type { Alarms } from '../../alarms/index.ts';
import { startBackgroundLoop } from '../../base/background-loop.ts';
import type { Id } from '../../base/ids.ts';
import type { WebhookMetrics } from '../metrics.ts';
import { type AttemptDeps, attemptDelivery } from './attempt.ts';
import { type DueDelivery, readDue } from './due.ts';
import { type LeaseKeeperDeps, startLeaseKeeper } from './lease-keeper.ts';
import { createRecorder, type RecorderDeps } from './recorder.ts';
import type { Vault } from './secret.ts';
import type { SlotShare } from './shared-slots.ts';
import { createDeliverySlots, type EndAttempt } from './slots.ts';
import { holdBack } from './test-mode.ts';

export interface DeliveryDeps extends AttemptDeps, LeaseKeeperDeps, RecorderDeps {
  alarms: Alarms;
  vault: Vault;
  log: RecorderDeps['log'];
  webhookMetrics?: WebhookMetrics;
  /** With several shards: the part of this one in the slots of the process. */
  slotShare?: SlotShare;
}

export interface Delivery {
  /** Something may be due: sends it now instead of after the pause. */
  runNow(): void;
  /** Graceful shutdown: begins nothing more, waits a moment for attempts under way, and releases the leases. */
  stop(): Promise<void>;
}

const readEveryMs = 200;
/** Pause after a round that began attempts: the next one finds many free slots, not one. */
const betweenRoundsMs = 10;
/** With so many attempts unrecorded the database cannot keep up: backpressure, sending waits for it. */
const maxUnrecorded = 1_000;
/** Pause before an event is sent again that could not be sent, or whose attempt could not be recorded. */
const afterFailureMs = 5_000;
/** How long attempts under way may take after `stop`; those cut off are made again by another process. */
const drainMs = 1_000;

/**
 * Sends events to partners for as long as this process runs. It serves the partners whose lease it holds. A delivery
 * leaves the outbox only when the receiver has accepted it, or when all attempts of the retry schedule have failed: at
 * least once.
 */
export function startDelivery(deps: DeliveryDeps): Delivery {
  const { clock } = deps;
  const slots = createDeliverySlots(clock.monotonicMs, deps.slotShare);
  const stopping = new AbortController();
  const cutOff = new AbortController();
  const work: Work = {
    ...deps,
    slots,
    record: createRecorder(deps),
    underWay: new Set(),
    unrecorded: new Set(),
    pausing: new Map(),
    stopping: stopping.signal,
    cutOff: cutOff.signal,
    runNow: () => loop.runNow(),
  };
  const loop = startBackgroundLoop({
    clock,
    everyMs: readEveryMs,
    work: async signal => {
      if ((await beginDue(work)) === 0) return undefined;
      await clock.sleep(betweenRoundsMs, signal);
      return 0;
    },
    onError: err => deps.log.error({ err }, 'events could not be read'),
  });
  const leases = startLeaseKeeper(deps, slots, loop.runNow);
  return {
    runNow: loop.runNow,
    stop: async () => {
      stopping.abort();
      await Promise.all([loop.stop(), leases.stop()]);
      await Promise.race([Promise.all(work.underWay), clock.sleep(drainMs)]);
      cutOff.abort();
      await Promise.all(work.underWay);
      await leases.releaseAll().catch(() => {});
    },
  };
}

interface Work extends DeliveryDeps {
  slots: ReturnType<typeof createDeliverySlots>;
  record: ReturnType<typeof createRecorder>;
  underWay: Set<Promise<void>>;
  /** Events whose attempt has ended but is not recorded yet: still due in the database, but not to be sent. */
  unrecorded: Set<bigint>;
  /** Those of them that could not be recorded and pause, until the first read after their pause begins. */
  pausing: Map<bigint, Id<'prt'>>;
  stopping: AbortSignal;
  cutOff: AbortSignal;
  runNow(): void;
}

/** Begins what is due and has a free slot; returns how many attempts that were. */
async function beginDue(work: Work): Promise<number> {
  const { db, clock, vault, heartbeat, slots, underWay, unrecorded } = work;
  if (unrecorded.size >= maxUnrecorded) return 0;
  let begun = 0;
  for (const plan of slots.plan()) {
    for (const eventId of work.pausing.keys()) if (!unrecorded.has(eventId)) work.pausing.delete(eventId);
    const due = await readDue(db, clock, vault, {
      ...plan,
      instance: heartbeat.instance,
      except: [...slots.inFlight(), ...unrecorded],
      onUnreadableSecret: partnerId => raiseUnreadableSecret(work, partnerId),
    });
    for (const delivery of due) {
      const { partnerId, event, isHanging, isBacklog } = delivery;
      if (isBacklog && isEarlierPausing(work, delivery)) continue;
      if (event.payment.mode === 'test' && (await holdBack(db, clock, delivery))) continue;
      const end = slots.begin(partnerId, event.eventId, { isHanging, isExclusive: isBacklog });
      if (!end) continue;
      const attempt = attemptAndRecord(work, delivery, end).finally(() => underWay.delete(attempt));
      underWay.add(attempt);
      begun += 1;
    }
  }
  return begun;
}

/** A backlog goes out in the order of its events, so it waits for one that pauses, or paused while the backlog was read. */
const isEarlierPausing = ({ pausing }: Work, { partnerId, event }: DueDelivery) =>
  [...pausing].some(([eventId, owner]) => owner === partnerId && eventId < event.eventId);

async function attemptAndRecord(work: Work, due: DueDelivery, end: EndAttempt): Promise<void> {
  const { clock, log, unrecorded, stopping, cutOff } = work;
  const { partnerId, event } = due;
  const { eventId } = event;
  const result = await attemptDelivery(work, due, cutOff).catch(err => {
    if (!cutOff.aborted) log.error({ err, partnerId }, 'an event could not be sent');
    return undefined;
  });
  if (cutOff.aborted) return;
  if (result) work.webhookMetrics?.observeAttempt(result, event.payment.settledAt!);
  // The slot is free while the attempt is being recorded, but the event must not be read again before that.
  unrecorded.add(eventId);
  end(result ?? { isDelivered: false, hasHung: false });
  work.runNow();
  const isRecorded =
    result && (await work.record(result).catch(err => void log.error({ err }, 'an attempt is not recorded')));
  if (!isRecorded) {
    work.pausing.set(eventId, partnerId);
    await clock.sleep(afterFailureMs, stopping);
  }
  unrecorded.delete(eventId);
}

const raiseUnreadableSecret = ({ alarms }: Work, subject: string) =>
  void alarms.raise({
    kind: 'webhook_secret_unreadable',
    subject,
    detail:
      'The webhook secret cannot be decrypted, so no events are sent. Create a new one with kopeck webhook rotate --force.',
  });
