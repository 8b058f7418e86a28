import type { Alarms } from '../../alarms/index.ts';
import { startBackgroundLoop } from '../../base/background-loop.ts';
import type { Id } from '../../base/ids.ts';
import { subjectOf } from '../first-endpoint.ts';
import type { WebhookMetrics } from '../metrics.ts';
import { type AttemptDeps, attemptDelivery } from './attempt.ts';
import { type DueDelivery, readDue } from './due.ts';
import { type LeaseKeeperDeps, startLeaseKeeper } from './leases.ts';
import { createRecorder, type RecorderDeps } from './recorder.ts';
import type { Vault } from './secret.ts';
import { createDeliverySlots, type DeliveryKey, type EndAttempt } from './slots.ts';
import { holdBack } from './test-mode.ts';

export interface DeliveryDeps extends AttemptDeps, LeaseKeeperDeps, RecorderDeps {
  alarms: Alarms;
  vault: Vault;
  log: RecorderDeps['log'];
  webhookMetrics?: WebhookMetrics;
}

/** How often due deliveries are read. Without a lease there is nothing to read; a new lease wakes the loop. */
export const readLoopMs = { served: 200, idle: 2_000 };
/** Pause after a round that began attempts: the next one finds many free slots, not one. */
const betweenRoundsMs = 10;
/** With so many attempts unrecorded the database cannot keep up: backpressure, sending waits for it. */
const maxUnrecorded = 1_000;
/** Pause before an event is sent again that could not be sent, or whose attempt could not be recorded. */
const afterFailureMs = 5_000;
/** How long attempts under way may take after `stop`; those cut off are made again by another process. */
const drainMs = 1_000;

/**
 * Sends events to partners for as long as this process runs. It serves the endpoints whose lease it holds. A delivery
 * leaves the outbox only when the receiver has accepted it, or when all attempts of the retry schedule have failed: at
 * least once.
 */
export function startDelivery(deps: DeliveryDeps) {
  const { clock } = deps;
  const work = createWork(deps, () => loop.runNow());
  const { slots, stopping, cutOff } = work;
  const loop = startBackgroundLoop({
    clock,
    everyMs: readLoopMs.served,
    work: async signal => {
      if ((await beginDue(work)) === 0) return slots.endpoints().length === 0 ? readLoopMs.idle : undefined;
      await clock.sleep(betweenRoundsMs, signal);
      return 0;
    },
    onError: err => deps.log.error({ err }, 'events could not be read'),
  });
  const leases = startLeaseKeeper(deps, slots, loop.runNow);
  return {
    /** Something may be due: sends it now instead of after the pause. */
    runNow: () => {
      loop.runNow();
      leases.wake();
    },
    /** Graceful shutdown: begins nothing more, waits a moment for attempts under way, and releases the leases. */
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

const createWork = (deps: DeliveryDeps, runNow: () => void) => ({
  ...deps,
  slots: createDeliverySlots(deps.clock.monotonicMs),
  record: createRecorder(deps),
  underWay: new Set<Promise<void>>(),
  /** Whose attempt has ended but is not recorded yet: still due in the database, but not to be sent. By `nameOf`. */
  unrecorded: new Map<string, DeliveryKey>(),
  /** Those of them that could not be recorded and pause, until the first read after their pause begins. */
  pausing: new Map<string, DeliveryKey>(),
  stopping: new AbortController(),
  cutOff: new AbortController(),
  runNow,
});
type Work = ReturnType<typeof createWork>;

const nameOf = ({ endpointId, eventId }: DeliveryKey) => `${endpointId} ${eventId}`;

/** Begins what is due and has a free slot; returns how many attempts that were. */
async function beginDue(work: Work): Promise<number> {
  const { db, clock, vault, heartbeat, slots, underWay, unrecorded } = work;
  if (unrecorded.size >= maxUnrecorded) return 0;
  let begun = 0;
  for (const plan of slots.plan()) {
    for (const name of work.pausing.keys()) if (!unrecorded.has(name)) work.pausing.delete(name);
    const due = await readDue(db, clock, vault, {
      ...plan,
      instance: heartbeat.instance,
      except: [...slots.inFlight(), ...unrecorded.values()],
      onUnreadableSecret: (partnerId, endpointId) => raiseUnreadableSecret(work, partnerId, endpointId),
    });
    for (const delivery of due) {
      const { endpointId, event, isHanging, isBacklog } = delivery;
      if (isBacklog && isEarlierPausing(work, delivery)) continue;
      if (event.payment.mode === 'test' && (await holdBack(db, clock, delivery))) continue;
      const end = slots.begin(endpointId, event.eventId, { isHanging, isExclusive: isBacklog });
      if (!end) continue;
      const attempt = attemptAndRecord(work, delivery, end).finally(() => underWay.delete(attempt));
      underWay.add(attempt);
      begun += 1;
    }
  }
  return begun;
}

/** A backlog goes out in the order of its events, so it waits for one that pauses, or paused while the backlog was read. */
const isEarlierPausing = ({ pausing }: Work, { endpointId, event }: DueDelivery) =>
  [...pausing.values()].some(one => one.endpointId === endpointId && one.eventId < event.eventId);

async function attemptAndRecord(work: Work, due: DueDelivery, end: EndAttempt): Promise<void> {
  const { clock, log, unrecorded, stopping, cutOff } = work;
  const { partnerId, endpointId, event } = due;
  const key = { endpointId, eventId: event.eventId };
  const result = await attemptDelivery(work, due, cutOff.signal).catch(err => {
    if (!cutOff.signal.aborted) log.error({ err, partnerId, endpointId }, 'an event could not be sent');
    return undefined;
  });
  if (cutOff.signal.aborted) return;
  if (result) work.webhookMetrics?.observeAttempt(result, event.payment.settledAt!);
  // The slot is free while the attempt is being recorded, but the event must not be read again before that.
  unrecorded.set(nameOf(key), key);
  end(result ?? { isDelivered: false, hasHung: false });
  work.runNow();
  const isRecorded =
    result && (await work.record(result).catch(err => void log.error({ err }, 'an attempt is not recorded')));
  if (!isRecorded) {
    work.pausing.set(nameOf(key), key);
    await clock.sleep(afterFailureMs, stopping.signal);
  }
  unrecorded.delete(nameOf(key));
}

const raiseUnreadableSecret = ({ alarms }: Work, partnerId: Id<'prt'>, endpointId: Id<'whe'>) =>
  void alarms.raise({
    kind: 'webhook_secret_unreadable',
    subject: subjectOf({ partnerId, endpointId }),
    detail:
      'The webhook secret cannot be decrypted, so no events are sent. Create a new one with kopeck webhook rotate --force.',
  });
