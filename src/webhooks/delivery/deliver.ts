import type { Alarms } from '../../alarms/index.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { createBatcher } from '../../db/batch.ts';
import { mayBeOneItemsFault, type Queryable, repeatingAfterDeadlock } from '../../db/pool.ts';
import type { Presence } from '../../db/presence.ts';
import type { Payment } from '../../payments/index.ts';
import type { Sender } from '../http/send.ts';
import { createDeliverySlots, slowAfterMs } from './concurrency.ts';
import {
  type AttemptEnd,
  acquireLeases,
  type DueDelivery,
  endAttempts,
  listLeaseHolders,
  readDue,
  releaseLeases,
  renewLeases,
} from './deliveries.ts';
import { envelope, eventHeaders } from './envelope.ts';
import type { Vault } from './secret.ts';
import { sign } from './sign.ts';
import { holdsBack, isToBeRepeated, releaseHeld } from './test-mode.ts';

export interface DeliveryDeps {
  db: Queryable;
  clock: Clock;
  presence: Pick<Presence, 'instance' | 'findDead'>;
  alarms: Alarms;
  vault: Vault;
  sender: Sender;
  webhookRetryScheduleSec: number[];
  log: { error(details: object, message: string): void; warn(details: object, message: string): void };
}

export interface Delivery {
  /** Something may be due: do not wait for the next look. */
  nudge(): void;
  stop(): Promise<void>;
}

const lookEveryMs = 200;
/** So that a look finds many places that have become free, and not one. */
const breatheMs = 10;
/** A process that hangs loses its partners after this long; one that dies, at once. */
const leaseMs = 30_000;
const renewEveryMs = 10_000;
const lookForDeadEveryMs = 1_500;
/** What failed for want of the database is tried again long before a lease is over. */
const afterErrorMs = 1_000;
const idleMs = 5_000;
const acquireAtOnce = 200;
/** With so many attempts not on record yet, the database cannot keep up, and sending waits for it. */
const mostRecording = 1_000;
/** What could not be sent, or whose end could not be put on record, is sent again, but not in a hurry. */
const afterFailureMs = 5_000;
/** When the process leaves, attempts have so long to end; what does not is made again by another. */
const leaveMs = 1_000;

/**
 * Sends events to partners for as long as this process runs. It serves the partners it has adopted, each partner is
 * served by one process at a time, and nothing is removed before the receiver has answered: at least once.
 */
export function startDelivery(deps: DeliveryDeps): Delivery {
  const { db, clock, presence, log } = deps;
  const { instance } = presence;
  const lanes = createDeliverySlots(clock.nowMs);
  const stopping = new AbortController();
  const cut = new AbortController();
  const underWay = new Set<Promise<void>>();
  const recording = new Set<bigint>();
  let isNudged = false;
  let sleeping: AbortController | undefined;
  let gone: number[] = [];
  const record = createRecorder(deps);
  const nudge = () => {
    isNudged = true;
    sleeping?.abort('nudged');
  };

  async function attempt(due: DueDelivery): Promise<void> {
    const { partnerId, event } = due;
    const { eventId } = event;
    const end = await send(deps, due, cut.signal).catch(err => {
      if (!cut.signal.aborted) log.error({ err, partnerId }, 'an event could not be sent');
      return undefined;
    });
    if (cut.signal.aborted) return;
    // The next one may go out while this one is put on record; until it is, it must not be read again.
    recording.add(eventId);
    lanes.end(partnerId, eventId, end ?? { delivered: false, hung: false });
    nudge();
    const recorded =
      end && (await record(end).catch(err => void log.error({ err }, 'an attempt is not on record')));
    if (!recorded) await clock.sleep(afterFailureMs, stopping.signal);
    recording.delete(eventId);
  }

  const onUnreadableSecret = (subject: string) =>
    void deps.alarms.raise({
      kind: 'webhook_secret_unreadable',
      subject,
      detail:
        'The secret cannot be opened, so nothing is sent: make a new one with kopeck webhook rotate --force.',
    });

  /** Begins what is due and has a place; returns how much that was. */
  async function beginDue(): Promise<number> {
    let begun = 0;
    if (recording.size >= mostRecording) return begun;
    for (const lane of lanes.plan()) {
      const except = [...lanes.inFlight(), ...recording];
      const due = await readDue(db, clock, deps.vault, { instance, ...lane, except, onUnreadableSecret });
      for (const delivery of due) {
        const { partnerId, event, hanging, kept } = delivery;
        if (event.payment.mode === 'test' && (await holdsBack(db, clock, delivery))) continue;
        if (!lanes.begin(partnerId, event.eventId, { hanging, alone: kept })) continue;
        const attempting = attempt(delivery).finally(() => underWay.delete(attempting));
        underWay.add(attempting);
        begun += 1;
      }
    }
    return begun;
  }

  async function lookForDue(): Promise<void> {
    while (!stopping.signal.aborted) {
      isNudged = false;
      const begun = await beginDue().catch(err => {
        log.error({ err }, 'events could not be read');
        return 0;
      });
      if (begun > 0) await clock.sleep(breatheMs, stopping.signal);
      else if (!isNudged) await rest();
    }
  }

  async function rest(): Promise<void> {
    sleeping = new AbortController();
    await clock.sleep(lookEveryMs, AbortSignal.any([stopping.signal, sleeping.signal]));
    sleeping = undefined;
  }

  /** Again and again, each at its own pace: one that waits for the database holds up no other. */
  async function every(pauseMs: number, work: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      const done = await work().then(
        () => true,
        err => {
          log.error({ err }, 'webhooks could not be looked after');
          return false;
        },
      );
      await clock.sleep(done ? pauseMs : Math.min(pauseMs, afterErrorMs), stopping.signal);
    }
  }

  async function lookForDead(): Promise<void> {
    const senders = await listLeaseHolders(db);
    gone = await presence.findDead(senders.filter(sender => sender !== instance));
  }

  async function acquirePartners(): Promise<void> {
    for (const partnerId of await acquireLeases(db, clock, {
      instance,
      gone,
      leaseMs,
      limit: acquireAtOnce,
    })) {
      lanes.add(partnerId);
      nudge();
    }
  }

  /** What the database says we own is what we serve: a change whose answer was lost must not orphan anybody. */
  async function renewOwnLeases(): Promise<void> {
    const idle = lanes.idle(idleMs);
    // First, so that nothing is begun for them meanwhile.
    for (const partnerId of idle) lanes.remove(partnerId);
    if (idle.length > 0) await releaseLeases(db, instance, idle);
    const served = lanes.partners();
    const ours = await renewLeases(db, clock, { instance, leaseMs });
    for (const partnerId of served) if (!ours.has(partnerId)) lanes.remove(partnerId);
    for (const partnerId of ours) lanes.add(partnerId);
  }

  const running = Promise.all([
    lookForDue(),
    every(lookForDeadEveryMs, lookForDead),
    every(lookEveryMs, acquirePartners),
    every(renewEveryMs, renewOwnLeases),
  ]);
  return {
    nudge,
    stop: async () => {
      stopping.abort();
      await running;
      await Promise.race([Promise.all(underWay), clock.sleep(leaveMs)]);
      cut.abort();
      await Promise.all(underWay);
      await releaseLeases(db, instance, lanes.partners()).catch(() => {});
    },
  };
}

type Ended = AttemptEnd & Pick<Payment, 'mode'>;

/** One attempt; undefined when nothing was sent for want of a connection, which the receiver is not to blame for. */
async function send(deps: DeliveryDeps, due: DueDelivery, signal: AbortSignal): Promise<Ended | undefined> {
  const { clock, sender, webhookRetryScheduleSec } = deps;
  const { partnerId, event, attempts } = due;
  const at = instantOf(clock);
  const body = envelope(event);
  const headers = eventHeaders(event, sign(due.secrets, Math.floor(at.getTime() / 1_000), body));
  const verdict = await sender.send({ url: due.url, headers, body }, signal);
  if (verdict.outcome === 'failed' && verdict.error === 'busy') return undefined;
  const status = verdict.outcome === 'answered' ? verdict.status : null;
  const delivered = status !== null && status >= 200 && status < 300;
  const { mode } = event.payment;
  const goesOutAgain = delivered && mode === 'test' && (await isToBeRepeated(deps.db, due));
  const pauseSec = goesOutAgain ? 0 : webhookRetryScheduleSec[attempts + 1];
  const isDone = delivered && !goesOutAgain;
  return {
    partnerId,
    mode,
    eventId: event.eventId,
    attempt: attempts + 1,
    delivered: isDone,
    hung: !delivered && verdict.durationMs >= slowAfterMs,
    status,
    error: verdict.outcome === 'failed' ? verdict.error : null,
    durationMs: verdict.durationMs,
    nextAt: isDone || pauseSec === undefined ? null : new Date(clock.nowMs() + pauseSec * 1_000),
    at,
  };
}

const suspension = {
  kind: 'webhook_suspended',
  detail: 'Three events in a row could not be delivered: sending is suspended until kopeck webhook check.',
};

/** Many ends in one statement. An alarm that it raises is on record with its cause, whoever dies then; this logs it. */
function createRecorder({ db, clock, log }: DeliveryDeps) {
  return createBatcher<Ended, true>({
    mayBeOneItemsFault,
    laneOf: () => 0,
    maxBatch: 256,
    maxWaiting: 5_000,
    gather: () => clock.sleep(breatheMs),
    run: async ends => {
      const suspended = await repeatingAfterDeadlock(() => endAttempts(db, ends, suspension.detail));
      for (const subject of suspended) log.warn({ ...suspension, subject }, 'alarm');
      const inTestMode = ends.filter(({ mode }) => mode === 'test');
      if (inTestMode.length > 0)
        await releaseHeld(db, clock, inTestMode).catch(err =>
          log.error({ err }, 'an event is held back longer'),
        );
      return ends.map(() => true as const);
    },
  });
}
