import type { Id } from '../../src/base/ids.ts';
import { slowAfterMs } from '../../src/webhooks/delivery/slots.ts';
import type { BookedWebhook } from './hook-books.ts';
import type { HookModel } from './hook-model.ts';
import type { Sent } from './receivers.ts';
import type { World } from './world.ts';

/** What must be true whenever a process sends. */
export interface SendingModel {
  /** What a process has read to send it, at the moment of the reading. */
  read(owner: string, partnerId: Id<'prt'>, eventId: string): void;
  send(sent: Sent): void;
  /** The attempt is over for the process that made it; it may have been none at all. */
  end(sent: Sent, wasMade: boolean): void;
  /** A process could not put this on record, or does not know whether it did. */
  recordingFailed(owner: string, eventId: string): void;
  ownerChanges(before: BookedWebhook, now: BookedWebhook): void;
  /** An operator wants these sent, whatever was before. */
  startsAnew(eventIds: string[]): void;
  /** These were kept and now go out. */
  keptGoOut(partnerId: Id<'prt'>, eventIds: string[]): void;
  /** When somebody who looks could find something to send or to look after. */
  nextDueMs(): number;
  died(owner: string): void;
}

export interface SendingOptions {
  model: () => HookModel;
  isAlive(instance: number): boolean;
  /** It stood still at some time, or is dead. */
  isExcused(owner: string): boolean;
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
  owner: string;
  eventId: string;
  partnerId: Id<'prt'>;
  atMs: number;
  /** How many there were before it. */
  attempts: number;
  /** Grows whenever the partner changes hands. */
  turn: number;
  failedToRecord: boolean;
}

const leaseMs = 30_000;
const renewEveryMs = 10_000;
const afterFailureMs = 5_000;
/** The longest that a statement is on its way to the database. */
const statementMs = 6_000;

export const eventIdOf = ({ body }: { body: string }) => /^\{"id":"evt_(\d+)"/.exec(body)![1]!;
const ownerName = (instance: number | null) => `process ${instance}`;

export function createSendingModel(world: World, options: SendingOptions): SendingModel {
  const { violate, trace, scheduler } = world;
  const tickets = new Map<string, Ticket>();
  const turns = new Map<Id<'prt'>, number>();
  const takenMs = new Map<Id<'prt'>, number>();
  const last = new Map<string, Attempt>();
  const underWay = new Map<Sent, Attempt>();
  /** Until when the process that could not put an attempt on record leaves the event alone. */
  const restsUntil = new Map<string, number>();
  const kept = new Map<Id<'prt'>, { sinceMs: number; eventIds: string[] }>();
  const nameOf = (eventId: string) => trace.nameOf(`evt_${eventId}`);
  const turnOf = (partnerId: Id<'prt'>) => turns.get(partnerId) ?? 0;

  function checkTicket(sent: Sent, eventId: string): Ticket | undefined {
    const ticket = tickets.get(`${sent.owner} ${eventId}`);
    tickets.delete(`${sent.owner} ${eventId}`);
    if (!ticket) violate('only what was found due is sent, and once', `${nameOf(eventId)} by ${sent.owner}`);
    else if (ticket.suspended) violate('while suspended nothing is sent', nameOf(eventId));
    else if (ticket.atMs < ticket.dueMs) violate('attempts keep the pauses', nameOf(eventId));
    else if (!ticket.isServing)
      violate('one process sends to a partner at a time', `${nameOf(eventId)} by ${sent.owner}`);
    return ticket;
  }

  /** At least once: whoever dies, hangs, loses its turn or cannot put an attempt on record has it made again. */
  function checkRepetition(eventId: string, { attempts, turn }: Ticket): void {
    const before = last.get(eventId);
    if (!before || before.failedToRecord || options.isExcused(before.owner)) return;
    const now = turnOf(before.partnerId);
    if (before.turn !== now || turn !== now) return;
    if ([...underWay.values()].includes(before))
      violate('an event is not sent twice at a time', `${nameOf(eventId)}, by ${before.owner} before`);
    else if (before.attempts === attempts)
      violate('an event is not sent again before the last attempt is on record', nameOf(eventId));
  }

  function checkOverlap(attempt: Attempt): void {
    for (const other of underWay.values())
      if (
        other.partnerId === attempt.partnerId &&
        other.owner !== attempt.owner &&
        other.turn === attempt.turn &&
        !options.isExcused(other.owner)
      )
        violate('one process sends to a partner at a time', `${attempt.owner} beside ${other.owner}`);
  }

  /** Of those whose attempts have begun already, or that somebody had found due before, the order is theirs. */
  function checkKept({ partnerId, eventId, owner, turn }: Attempt, ticket: Ticket): void {
    const { sinceMs, eventIds } = kept.get(partnerId) ?? { sinceMs: 0, eventIds: [] };
    if (!eventIds.includes(eventId)) return;
    const left = eventIds.filter(id => id !== eventId);
    kept.set(partnerId, { sinceMs, eventIds: left });
    if (ticket.atMs <= sinceMs) return;
    const first = left.find(id => options.model().find(id)?.attempts === 0);
    if (first && BigInt(first) < BigInt(eventId))
      violate('kept events go out in order', `${nameOf(eventId)} before ${nameOf(first)}`);
    const beside = [...underWay.values()].find(
      other => other.partnerId === partnerId && other.owner === owner && other.turn === turn,
    );
    if (beside)
      violate('kept events go out one by one', `${nameOf(eventId)} beside ${nameOf(beside.eventId)}`);
  }

  /** What it had sent to the database before it took the partner over again may be carried out after that. */
  function checkGivenAway({ partnerId, owner }: BookedWebhook): void {
    if (scheduler.nowMs() - takenMs.get(partnerId)! <= statementMs) return;
    const begun = [...underWay.values()].find(
      attempt =>
        attempt.partnerId === partnerId &&
        attempt.owner === ownerName(owner) &&
        attempt.turn === turnOf(partnerId),
    );
    if (begun) violate('nobody gives a partner away while sending to it', begun.owner);
  }

  function leaveAlone(attempt: Attempt): void {
    attempt.failedToRecord = true;
    restsUntil.set(attempt.eventId, scheduler.nowMs() + afterFailureMs);
  }

  /** What a process has read it sends at once, unless the receiver keeps it waiting: then nothing goes beside it. */
  function dueMs({ partnerId, owner, ownedUntilMs, suspended }: BookedWebhook): number {
    const isServed = owner !== null && options.isAlive(owner);
    const renewedMs = isServed ? ownedUntilMs! - leaseMs + renewEveryMs : Number.POSITIVE_INFINITY;
    const begun = [...underWay.values()].filter(
      attempt => attempt.partnerId === partnerId && attempt.owner === ownerName(owner),
    );
    if (suspended || begun.some(({ atMs }) => scheduler.nowMs() - atMs >= slowAfterMs)) return renewedMs;
    const nextMs = Math.min(
      ...options
        .model()
        .waiting(partnerId)
        .filter(id => begun.every(({ eventId }) => eventId !== id))
        .map(id => Math.max(options.model().find(id)!.nextMs, restsUntil.get(id) ?? 0)),
    );
    if (isServed && scheduler.isStalled(ownerName(owner))) return Math.max(nextMs, ownedUntilMs!);
    return Math.min(nextMs, renewedMs);
  }

  return {
    read: (owner, partnerId, eventId) => {
      const webhook = options.model().webhookOf(partnerId)!;
      const { nextMs, attempts } = options.model().find(eventId)!;
      tickets.set(`${owner} ${eventId}`, {
        atMs: scheduler.nowMs(),
        turn: turnOf(partnerId),
        isServing: ownerName(webhook.owner) === owner,
        suspended: webhook.suspended,
        dueMs: nextMs,
        attempts,
      });
    },
    send: sent => {
      const { owner, partnerId, sending } = sent;
      const eventId = eventIdOf(sending);
      const ticket = checkTicket(sent, eventId);
      if (!ticket) return;
      const { turn, attempts } = ticket;
      const attempt = {
        ...{ owner, eventId, partnerId, turn, attempts },
        atMs: scheduler.nowMs(),
        failedToRecord: false,
      };
      trace.add(owner, `sends ${nameOf(eventId)} to ${trace.nameOf(partnerId)}`);
      checkRepetition(eventId, ticket);
      checkOverlap(attempt);
      checkKept(attempt, ticket);
      last.set(eventId, attempt);
      underWay.set(sent, attempt);
    },
    end: (sent, wasMade) => {
      const attempt = underWay.get(sent);
      underWay.delete(sent);
      if (attempt && !wasMade) leaveAlone(attempt);
    },
    recordingFailed: (owner, eventId) => {
      const attempt = last.get(eventId);
      if (attempt?.owner === owner) leaveAlone(attempt);
    },
    ownerChanges: (before, now) => {
      if (now.owner === null) checkGivenAway(before);
      turns.set(now.partnerId, turnOf(now.partnerId) + 1);
      takenMs.set(now.partnerId, scheduler.nowMs());
    },
    startsAnew: eventIds => {
      for (const eventId of eventIds) last.delete(eventId);
      for (const queue of kept.values())
        queue.eventIds = queue.eventIds.filter(eventId => !eventIds.includes(eventId));
    },
    keptGoOut: (partnerId, eventIds) => void kept.set(partnerId, { sinceMs: scheduler.nowMs(), eventIds }),
    nextDueMs: () => Math.min(...options.model().books.webhooks.map(dueMs)),
    died: owner => {
      for (const [sent, attempt] of underWay) if (attempt.owner === owner) underWay.delete(sent);
    },
  };
}
