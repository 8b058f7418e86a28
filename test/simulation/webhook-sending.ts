import type { Id } from '../../src/base/ids.ts';
import { slowAfterMs } from '../../src/webhooks/delivery/slots.ts';
import type { Sent } from './receivers.ts';
import type { BookedWebhook } from './webhook-books.ts';
import type { WebhookModel } from './webhook-model.ts';
import type { World } from './world.ts';

/** Invariants of sending, checked on every attempt. */
export interface SendingModel {
  /** A process read this event as due. */
  read(processName: string, partnerId: Id<'prt'>, eventId: string): void;
  send(sent: Sent): void;
  /** The attempt is over for its process; `wasMade` is false if nothing was sent. */
  end(sent: Sent, wasMade: boolean): void;
  /** A process could not record the attempt, or does not know whether it did. */
  recordingFailed(processName: string, eventId: string): void;
  leaseChanges(before: BookedWebhook, now: BookedWebhook): void;
  /** An operator resends these events: their attempts start again. */
  restartSchedule(eventIds: string[]): void;
  /** Sending is enabled again: these kept events are sent now. */
  sendKept(partnerId: Id<'prt'>, eventIds: string[]): void;
  /** When a poll could find a delivery to send or a lease to renew. */
  nextDueMs(): number;
  crashed(processName: string): void;
}

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

interface Attempt {
  processName: string;
  eventId: string;
  partnerId: Id<'prt'>;
  atMs: number;
  /** Number of attempts before it. */
  attempts: number;
  /** Counts the changes of the lease on the partner, like a fencing token. */
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

export function createSendingModel(world: World, options: SendingOptions): SendingModel {
  const { violate, trace, scheduler } = world;
  const tickets = new Map<string, Ticket>();
  const turns = new Map<Id<'prt'>, number>();
  const takenMs = new Map<Id<'prt'>, number>();
  const last = new Map<string, Attempt>();
  const underWay = new Map<Sent, Attempt>();
  /** A process that could not record an attempt does not send the event again before this time. */
  const postponedUntil = new Map<string, number>();
  const kept = new Map<Id<'prt'>, { sinceMs: number; eventIds: string[] }>();
  const nameOf = (eventId: string) => trace.nameOf(`evt_${eventId}`);
  const turnOf = (partnerId: Id<'prt'>) => turns.get(partnerId) ?? 0;

  function checkTicket(sent: Sent, eventId: string): Ticket | undefined {
    const ticket = tickets.get(`${sent.processName} ${eventId}`);
    tickets.delete(`${sent.processName} ${eventId}`);
    if (!ticket)
      violate(
        'only a delivery that was read as due is sent, and once',
        `${nameOf(eventId)} by ${sent.processName}`,
      );
    else if (ticket.suspended) violate('while suspended nothing is sent', nameOf(eventId));
    else if (ticket.atMs < ticket.dueMs - world.clockErrorMs)
      violate('attempts keep the retry schedule', nameOf(eventId));
    else if (!ticket.isServing)
      violate('one process sends to a partner at a time', `${nameOf(eventId)} by ${sent.processName}`);
    return ticket;
  }

  /** At least once: a process that dies, stalls, loses its lease or cannot record an attempt causes a second one. */
  function checkRepetition(eventId: string, { attempts, turn }: Ticket): void {
    const before = last.get(eventId);
    if (!before || before.failedToRecord || options.isExcused(before.processName)) return;
    const now = turnOf(before.partnerId);
    if (before.turn !== now || turn !== now) return;
    if ([...underWay.values()].includes(before))
      violate('an event is not sent twice at a time', `${nameOf(eventId)}, by ${before.processName} before`);
    else if (before.attempts === attempts)
      violate('an event is not sent again before the last attempt is on record', nameOf(eventId));
  }

  function checkOverlap(attempt: Attempt): void {
    for (const other of underWay.values())
      if (
        other.partnerId === attempt.partnerId &&
        other.processName !== attempt.processName &&
        other.turn === attempt.turn &&
        !options.isExcused(other.processName)
      )
        violate(
          'one process sends to a partner at a time',
          `${attempt.processName} beside ${other.processName}`,
        );
  }

  /** Events with earlier attempts, and those read as due before sending was enabled again, keep no order. */
  function checkKept({ partnerId, eventId, processName, turn }: Attempt, ticket: Ticket): void {
    const { sinceMs, eventIds } = kept.get(partnerId) ?? { sinceMs: 0, eventIds: [] };
    if (!eventIds.includes(eventId)) return;
    const left = eventIds.filter(id => id !== eventId);
    kept.set(partnerId, { sinceMs, eventIds: left });
    if (ticket.atMs <= sinceMs) return;
    const first = left.find(id => options.model().find(id)?.attempts === 0);
    if (first && BigInt(first) < BigInt(eventId))
      violate('kept events go out in order', `${nameOf(eventId)} before ${nameOf(first)}`);
    const beside = [...underWay.values()].find(
      other => other.partnerId === partnerId && other.processName === processName && other.turn === turn,
    );
    if (beside)
      violate('kept events go out one by one', `${nameOf(eventId)} beside ${nameOf(beside.eventId)}`);
  }

  /** A release that was sent before the process took the lease again may run after that. */
  function checkLeaseReleased({ partnerId, leaseHolder }: BookedWebhook): void {
    if (scheduler.nowMs() - takenMs.get(partnerId)! <= statementMs) return;
    const begun = [...underWay.values()].find(
      attempt =>
        attempt.partnerId === partnerId &&
        attempt.processName === processNameOf(leaseHolder) &&
        attempt.turn === turnOf(partnerId),
    );
    if (begun)
      violate(
        'no process releases the lease of a partner while sending to it',
        `${begun.processName}, ${nameOf(begun.eventId)} to ${trace.nameOf(partnerId)}, taken at ${takenMs.get(partnerId)} of ${scheduler.nowMs()}`,
      );
  }

  function postpone(attempt: Attempt): void {
    attempt.failedToRecord = true;
    postponedUntil.set(attempt.eventId, scheduler.nowMs() + afterFailureMs);
  }

  /** A process sends what it has read at once, unless the receiver is slow: then nothing is sent in parallel. */
  function dueMs({ partnerId, leaseHolder, leasedUntilMs, suspended }: BookedWebhook): number {
    const isServed = leaseHolder !== null && options.isAlive(leaseHolder);
    const renewedMs = isServed ? leasedUntilMs! - leaseMs + renewEveryMs : Number.POSITIVE_INFINITY;
    const begun = [...underWay.values()].filter(
      attempt => attempt.partnerId === partnerId && attempt.processName === processNameOf(leaseHolder),
    );
    if (suspended || begun.some(({ atMs }) => scheduler.nowMs() - atMs >= slowAfterMs)) return renewedMs;
    const nextMs = Math.min(
      ...options
        .model()
        .waiting(partnerId)
        .filter(id => begun.every(({ eventId }) => eventId !== id))
        .map(id => Math.max(options.model().find(id)!.nextMs, postponedUntil.get(id) ?? 0)),
    );
    if (isServed && scheduler.isStalled(processNameOf(leaseHolder))) return Math.max(nextMs, leasedUntilMs!);
    return Math.min(nextMs, renewedMs);
  }

  return {
    read: (processName, partnerId, eventId) => {
      const webhook = options.model().webhookOf(partnerId)!;
      const { nextMs, attempts } = options.model().find(eventId)!;
      tickets.set(`${processName} ${eventId}`, {
        atMs: scheduler.nowMs(),
        turn: turnOf(partnerId),
        isServing: processNameOf(webhook.leaseHolder) === processName,
        suspended: webhook.suspended,
        dueMs: nextMs,
        attempts,
      });
    },
    send: sent => {
      const { processName, partnerId, sending } = sent;
      const eventId = eventIdOf(sending);
      const ticket = checkTicket(sent, eventId);
      if (!ticket) return;
      const { turn, attempts } = ticket;
      const attempt = {
        ...{ processName, eventId, partnerId, turn, attempts },
        atMs: scheduler.nowMs(),
        failedToRecord: false,
      };
      trace.add(processName, `sends ${nameOf(eventId)} to ${trace.nameOf(partnerId)}`);
      checkRepetition(eventId, ticket);
      checkOverlap(attempt);
      checkKept(attempt, ticket);
      last.set(eventId, attempt);
      underWay.set(sent, attempt);
    },
    end: (sent, wasMade) => {
      const attempt = underWay.get(sent);
      underWay.delete(sent);
      if (attempt && !wasMade) postpone(attempt);
    },
    recordingFailed: (processName, eventId) => {
      const attempt = last.get(eventId);
      if (attempt?.processName === processName) postpone(attempt);
    },
    leaseChanges: (before, now) => {
      if (now.leaseHolder === null) checkLeaseReleased(before);
      turns.set(now.partnerId, turnOf(now.partnerId) + 1);
      takenMs.set(now.partnerId, scheduler.nowMs());
    },
    restartSchedule: eventIds => {
      for (const eventId of eventIds) last.delete(eventId);
      for (const queue of kept.values())
        queue.eventIds = queue.eventIds.filter(eventId => !eventIds.includes(eventId));
    },
    sendKept: (partnerId, eventIds) => void kept.set(partnerId, { sinceMs: scheduler.nowMs(), eventIds }),
    nextDueMs: () => Math.min(...options.model().books.webhooks.map(dueMs)),
    crashed: processName => {
      for (const [sent, attempt] of underWay) if (attempt.processName === processName) underWay.delete(sent);
    },
  };
}
