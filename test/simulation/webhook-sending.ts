import type { Id } from '../../src/base/ids.ts';
import { slowAfterMs } from '../../src/webhooks/delivery/slots.ts';
import type { Sent } from './receivers.ts';
import type { BookedDelivery, BookedWebhook, DeliveryKey } from './webhook-books.ts';
import { keyOf, type WebhookModel } from './webhook-model.ts';
import type { World } from './world.ts';

export interface SendingOptions {
  model: () => WebhookModel;
  isAlive(instance: number): boolean;
  /** It is dead or has stalled at some time. */
  isExcused(processName: string): boolean;
}

interface Ticket {
  atMs: number;
  dueMs: number;
  turn: number;
  isServing: boolean;
  suspended: boolean;
  attempts: number;
}

interface Attempt extends DeliveryKey {
  processName: string;
  atMs: number;
  /** Number of attempts before it. */
  attempts: number;
  /** Counts the changes of the lease on the endpoint, like a fencing token. */
  turn: number;
  failedToRecord: boolean;
}

const leaseMs = 30_000;
const renewEveryMs = 10_000;
const afterFailureMs = 5_000;
/** The longest time a statement takes to reach the database. */
const statementMs = 6_000;

export const eventIdOf = ({ body }: { body: string }) => /^\{"id":"evt_(\d+)"/.exec(body)![1]!;
const processNameOf = (instance: number | null) => `process ${instance}`;

/** Invariants of sending, checked on every attempt. */
export function createSendingModel(world: World, options: SendingOptions) {
  const { violate, trace, scheduler } = world;
  const tickets = new Map<string, Ticket>();
  const turns = new Map<Id<'whe'>, number>();
  const takenMs = new Map<Id<'whe'>, number>();
  const last = new Map<string, Attempt>();
  const underWay = new Map<Sent, Attempt>();
  /** A process that could not record an attempt does not send the event again before this time. */
  const postponedUntil = new Map<string, number>();
  const kept = new Map<Id<'whe'>, { sinceMs: number; eventIds: string[] }>();
  const turnOf = (endpointId: Id<'whe'>) => turns.get(endpointId) ?? 0;

  /** What is under way to an endpoint, in one turn or in any. */
  const sentTo = (endpointId: Id<'whe'>, turn?: number) =>
    [...underWay.values()].filter(
      attempt => attempt.endpointId === endpointId && (turn ?? attempt.turn) === attempt.turn,
    );

  function checkTicket(sent: Sent, key: DeliveryKey): Ticket | undefined {
    const name = `${sent.processName} ${keyOf(key)}`;
    const ticket = tickets.get(name);
    tickets.delete(name);
    const what = `evt_${key.eventId} by ${sent.processName}`;
    if (!ticket) violate('only a delivery that was read as due is sent, and once', what);
    else if (ticket.suspended) violate('while suspended nothing is sent', what);
    else if (ticket.atMs < ticket.dueMs - world.clockErrorMs)
      violate('attempts keep the retry schedule', what);
    else if (!ticket.isServing) violate('one process sends to an endpoint at a time', what);
    return ticket;
  }

  /** At least once: a process that dies, stalls, loses its lease or cannot record an attempt causes a second one. */
  function checkRepetition(key: DeliveryKey, { attempts, turn }: Ticket): void {
    const before = last.get(keyOf(key));
    if (!before || before.failedToRecord || options.isExcused(before.processName)) return;
    const now = turnOf(before.endpointId);
    if (before.turn !== now || turn !== now) return;
    if ([...underWay.values()].includes(before))
      violate('an event is not sent twice at a time', `evt_${key.eventId}, by ${before.processName} before`);
    else if (before.attempts === attempts)
      violate('an event is not sent again before the last attempt is on record', `evt_${key.eventId}`);
  }

  function checkOverlap({ processName, endpointId, turn }: Attempt): void {
    for (const other of sentTo(endpointId, turn))
      if (other.processName !== processName && !options.isExcused(other.processName))
        violate('one process sends to an endpoint at a time', `${processName} beside ${other.processName}`);
  }

  /** Events with earlier attempts, and those read as due before sending was enabled again, keep no order. */
  function checkKept({ endpointId, eventId, processName, turn }: Attempt, ticket: Ticket): void {
    const { sinceMs, eventIds } = kept.get(endpointId) ?? { sinceMs: 0, eventIds: [] };
    if (!eventIds.includes(eventId)) return;
    const left = eventIds.filter(id => id !== eventId);
    kept.set(endpointId, { sinceMs, eventIds: left });
    if (ticket.atMs <= sinceMs) return;
    const first = left.find(id => options.model().find({ endpointId, eventId: id })?.attempts === 0);
    if (first && BigInt(first) < BigInt(eventId))
      violate('kept events go out in order', `evt_${eventId} before evt_${first}`);
    const beside = sentTo(endpointId, turn).find(other => other.processName === processName);
    if (beside) violate('kept events go out one by one', `evt_${eventId} beside evt_${beside.eventId}`);
  }

  /** A release that was sent before the process took the lease again may run after that. */
  function checkLeaseReleased({ endpointId, leaseHolder }: BookedWebhook): void {
    if (scheduler.nowMs() - takenMs.get(endpointId)! <= statementMs) return;
    const by = processNameOf(leaseHolder);
    const begun = sentTo(endpointId, turnOf(endpointId)).find(({ processName }) => processName === by);
    const rule = 'no process releases the lease of an endpoint while sending to it';
    if (begun) violate(rule, `${by}, evt_${begun.eventId} to ${endpointId}`);
  }

  function postpone(attempt: Attempt): void {
    attempt.failedToRecord = true;
    postponedUntil.set(keyOf(attempt), scheduler.nowMs() + afterFailureMs);
  }

  /** A process sends what it has read at once, unless the receiver is slow: then nothing is sent in parallel. */
  function dueMs({ endpointId, leaseHolder, leasedUntilMs, suspended }: BookedWebhook): number {
    const isServed = leaseHolder !== null && options.isAlive(leaseHolder);
    const renewedMs = isServed ? leasedUntilMs! - leaseMs + renewEveryMs : Number.POSITIVE_INFINITY;
    const begun = sentTo(endpointId).filter(({ processName }) => processName === processNameOf(leaseHolder));
    if (suspended || begun.some(({ atMs }) => scheduler.nowMs() - atMs >= slowAfterMs)) return renewedMs;
    const nextMs = Math.min(
      ...options
        .model()
        .waiting(endpointId)
        .filter(row => begun.every(({ eventId }) => eventId !== row.eventId))
        .map(row => Math.max(row.nextMs, postponedUntil.get(keyOf(row)) ?? 0)),
    );
    if (isServed && scheduler.isStalled(processNameOf(leaseHolder))) return Math.max(nextMs, leasedUntilMs!);
    return Math.min(nextMs, renewedMs);
  }

  /** An operator resends these events: their attempts start again. */
  function restartSchedule(keys: DeliveryKey[]): void {
    for (const key of keys) {
      last.delete(keyOf(key));
      const queue = kept.get(key.endpointId);
      if (queue) queue.eventIds = queue.eventIds.filter(eventId => eventId !== key.eventId);
    }
  }

  return {
    /** A process read this event as due. */
    read: (processName: string, key: DeliveryKey) => {
      const webhook = options.model().webhookOf(key.endpointId)!;
      const { nextMs, attempts } = options.model().find(key)!;
      tickets.set(`${processName} ${keyOf(key)}`, {
        atMs: scheduler.nowMs(),
        turn: turnOf(key.endpointId),
        isServing: processNameOf(webhook.leaseHolder) === processName,
        suspended: webhook.suspended,
        dueMs: nextMs,
        attempts,
      });
    },
    send: (sent: Sent) => {
      const { processName, endpointId, sending } = sent;
      const key = { endpointId, eventId: eventIdOf(sending) };
      const ticket = checkTicket(sent, key);
      if (!ticket) return;
      const { turn, attempts } = ticket;
      const attempt = {
        ...{ processName, ...key, turn, attempts },
        atMs: scheduler.nowMs(),
        failedToRecord: false,
      };
      trace.add(processName, `sends evt_${key.eventId} to ${endpointId}`);
      checkRepetition(key, ticket);
      checkOverlap(attempt);
      checkKept(attempt, ticket);
      last.set(keyOf(key), attempt);
      underWay.set(sent, attempt);
    },
    /** The attempt is over for its process; `wasMade` is false if nothing was sent. */
    end: (sent: Sent, wasMade: boolean) => {
      const attempt = underWay.get(sent);
      underWay.delete(sent);
      if (attempt && !wasMade) postpone(attempt);
    },
    /** A process could not record the attempt, or does not know whether it did. */
    recordingFailed: (processName: string, key: DeliveryKey) => {
      const attempt = last.get(keyOf(key));
      if (attempt?.processName === processName) postpone(attempt);
    },
    leaseChanges: (before: BookedWebhook, now: BookedWebhook) => {
      if (now.leaseHolder === null) checkLeaseReleased(before);
      turns.set(now.endpointId, turnOf(now.endpointId) + 1);
      takenMs.set(now.endpointId, scheduler.nowMs());
    },
    restartSchedule,
    /**
     * Sending is enabled again: these kept events are sent now, in order. A process whose last attempt at one is not on record
     * yet sends that one later.
     */
    sendKept: (endpointId: Id<'whe'>, rows: BookedDelivery[]) => {
      const onRecord = rows.filter(row => last.get(keyOf(row))?.attempts !== row.attempts);
      restartSchedule(rows);
      kept.set(endpointId, { sinceMs: scheduler.nowMs(), eventIds: onRecord.map(({ eventId }) => eventId) });
    },
    /** When a poll could find a delivery to send or a lease to renew. */
    nextDueMs: () => Math.min(...options.model().books.webhooks.map(dueMs)),
    crashed: (processName: string) => {
      for (const [sent, attempt] of underWay) if (attempt.processName === processName) underWay.delete(sent);
    },
  };
}
