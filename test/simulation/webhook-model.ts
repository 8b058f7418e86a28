import type { Id } from '../../src/base/ids.ts';
import type { SendResult } from '../../src/webhooks/http/post.ts';
import type {
  BookedAttempt,
  BookedDelivery,
  BookedEvent,
  BookedWebhook,
  DeliveryKey,
  WebhookBooks,
} from './webhook-books.ts';
import type { World } from './world.ts';

export interface WebhookModelOptions {
  pausesSec: number[];
  isAlive(instance: number): boolean;
  /** The lease on the endpoint was taken by another process, released, or taken again after it had expired. */
  onLeaseChange(before: BookedWebhook, now: BookedWebhook): void;
}

/** The books at the last check. */
interface Known {
  /** By `keyOf`. */
  rows: Map<string, BookedDelivery>;
  webhooks: Map<Id<'whe'>, BookedWebhook>;
}

const sentWithinMs = 5 * 60_000;
const suspendAfter = 3;

export const isTaken = (status: number | null) => status !== null && status >= 200 && status < 300;

export const keyOf = ({ endpointId, eventId }: DeliveryKey) => `${endpointId} ${eventId}`;

export function createWebhookModel(world: World, options: WebhookModelOptions) {
  const { violate, trace, scheduler } = world;
  const { pausesSec } = options;
  let rows = new Map<string, BookedDelivery>();
  let webhooks = new Map<Id<'whe'>, BookedWebhook>();
  let latest: WebhookBooks = { webhooks: [], deliveries: [], attempts: [], events: [] };
  const events = new Set<string>();
  const takenEvents = new Set<string>();
  const presumedDead = new Set<string>();
  const inARow = new Map<Id<'whe'>, number>();
  /** By partner, since notices are. */
  const suspensions = new Map<Id<'prt'>, number>();
  const givenUp = new Map<Id<'prt'>, number>();
  const changedMs = new Map<string, number>();
  const nameOf = ({ endpointId, eventId }: DeliveryKey) => `evt_${eventId} to ${endpointId}`;
  const add = <Key>(counts: Map<Key, number>, key: Key) => counts.set(key, (counts.get(key) ?? 0) + 1);

  const isLeaseOver = ({ leasedUntilMs }: BookedWebhook) =>
    leasedUntilMs !== null && leasedUntilMs <= scheduler.nowMs() + world.clockErrorMs;

  /** A process that takes the partner again after its lease has expired counts as a new holder. */
  const hasLeaseChanged = (before: BookedWebhook, now: BookedWebhook) =>
    before.leaseHolder !== now.leaseHolder ||
    (isLeaseOver(before) && before.leasedUntilMs !== now.leasedUntilMs);

  function checkLeaseHolder(before: BookedWebhook | undefined, now: BookedWebhook): void {
    if (!before || !hasLeaseChanged(before, now)) return;
    options.onLeaseChange(before, now);
    const [from, by] = [before.leaseHolder, now.leaseHolder];
    if (from === null || by === null || from === by || !options.isAlive(from)) return;
    const rule = 'no process takes the lease of a live process before it expires';
    if (!isLeaseOver(before) && !presumedDead.has(`${by} ${from}`))
      violate(rule, `process ${by} took ${now.endpointId} from process ${from}`);
  }

  /** An endpoint sees the events of its mode and kinds that happen while it is there. */
  const asksFor = ({ partnerId, mode, events }: BookedWebhook, event: BookedEvent) =>
    partnerId === event.partnerId && (mode ?? event.mode) === event.mode && events.includes(event.kind);

  function checkEvents(booked: BookedEvent[]): void {
    for (const event of booked) {
      const { eventId } = event;
      if (events.has(eventId)) continue;
      events.add(eventId);
      for (const webhook of webhooks.values()) {
        const key = { endpointId: webhook.endpointId, eventId };
        const row = rows.get(keyOf(key));
        if (!asksFor(webhook, event)) {
          if (row) violate('an endpoint gets only what it asks for', nameOf(key));
        } else if (!row || row.attempts > 0 || row.givenUp)
          violate('an event has a delivery for each endpoint that asks for it', nameOf(key));
      }
    }
  }

  function checkGone(row: BookedDelivery, ends: BookedAttempt[]): void {
    if (!ends.some(end => keyOf(end) === keyOf(row) && isTaken(end.status)))
      violate('no delivery is removed before the receiver took it', `${nameOf(row)}, by the log`);
    if (!takenEvents.has(keyOf(row)))
      violate('no delivery is removed before the receiver took it', `${nameOf(row)}: no process got a 2xx`);
  }

  function checkRow(before: BookedDelivery, now: BookedDelivery, ends: BookedAttempt[]): void {
    const { attempts, nextMs } = now;
    if (before.attempts === attempts && before.nextMs === nextMs && before.givenUp === now.givenUp) return;
    const detail = `${nameOf(now)}: ${JSON.stringify(before)}, now ${JSON.stringify(now)}`;
    const end = ends.find(end => keyOf(end) === keyOf(now) && end.attempt === attempts);
    if (before.givenUp || attempts !== before.attempts + 1 || !end || isTaken(end.status)) {
      violate('attempts are counted one by one, as they are recorded', detail);
      return;
    }
    if (now.givenUp !== (attempts === pausesSec.length))
      violate('an event is given up after nine attempts, and not before', detail);
    if (now.givenUp) {
      add(givenUp, now.partnerId);
      return;
    }
    const pauseMs = pausesSec[attempts]! * 1_000;
    // The clock of a process may be corrected between the two times.
    const earliestMs = end.atMs + pauseMs - 2 * world.clockErrorMs;
    if (nextMs < earliestMs || nextMs > scheduler.nowMs() + pauseMs + world.clockErrorMs)
      violate('the next attempt comes after the pause of the schedule', detail);
  }

  function checkRows(before: Map<string, BookedDelivery>, ends: BookedAttempt[]): void {
    for (const [key, row] of before) if (!rows.has(key)) checkGone(row, ends);
    for (const [key, now] of rows) {
      const known = before.get(key);
      if (known) checkRow(known, now, ends);
      else if (events.has(now.eventId))
        violate('an event that was taken is not sent again automatically', nameOf(now));
    }
  }

  /** Three given up in a row, with none taken in between, suspend sending; the books are read after every batch. */
  function countInARow(before: Map<string, BookedDelivery>, ends: BookedAttempt[]): void {
    const counted = new Set<string>();
    for (const end of ends) {
      const key = keyOf(end);
      if (isTaken(end.status)) inARow.set(end.endpointId, 0);
      else if (rows.get(key)?.givenUp && !before.get(key)?.givenUp && !counted.has(key)) {
        counted.add(key);
        add(inARow, end.endpointId);
      }
    }
  }

  function checkSuspension(before: BookedWebhook | undefined, now: BookedWebhook): void {
    const { endpointId, partnerId, suspended } = now;
    const count = inARow.get(endpointId) ?? 0;
    const wasSuspended = before?.suspended ?? false;
    const rule = 'three events given up in a row suspend sending, and nothing else does';
    if (suspended !== (wasSuspended || count >= suspendAfter))
      violate(rule, `${endpointId} after ${count}: ${suspended}`);
    if (suspended && !wasSuspended) {
      trace.add('books', `sending to ${endpointId} is suspended`);
      add(suspensions, partnerId);
    }
  }

  function checkNotices(now: BookedWebhook): void {
    const { endpointId, partnerId, suspensionNotices, givenUpNotices, openAlarms, suspended } = now;
    const rule =
      'a partner gets one notice per event given up and per suspension, and operators get an alarm';
    const [wasSuspended, wereGivenUp] = [suspensions.get(partnerId) ?? 0, givenUp.get(partnerId) ?? 0];
    if (suspensionNotices !== wasSuspended)
      violate(rule, `${partnerId}: ${suspensionNotices} notices of ${wasSuspended} suspensions`);
    if (givenUpNotices !== wereGivenUp)
      violate(rule, `${partnerId}: ${givenUpNotices} notices of ${wereGivenUp} given up`);
    if (openAlarms !== (suspended ? 1 : 0))
      violate(rule, `${endpointId}: suspended ${suspended}, ${openAlarms} open alarms`);
  }

  /** Sending was enabled again, or goes to another address: what was given up before does not count. */
  const isFreshStart = (before: BookedWebhook | undefined, now: BookedWebhook) =>
    before?.url !== now.url || (before.suspended && !now.suspended);

  const isWaiting = ({ givenUp, endpointId }: BookedDelivery) =>
    !givenUp && !webhooks.get(endpointId)!.suspended;

  function noteChanges(before: Known): void {
    for (const [key, row] of rows)
      if (
        JSON.stringify(row) !== JSON.stringify(before.rows.get(key)) ||
        before.webhooks.get(row.endpointId)?.suspended
      )
        changedMs.set(key, scheduler.nowMs());
  }

  /** An operator may change anything, but no delivery is removed by that, unless its endpoint is. */
  function observeOperator(before: Known): void {
    for (const [endpointId, webhook] of webhooks)
      if (isFreshStart(before.webhooks.get(endpointId), webhook)) inARow.set(endpointId, 0);
    for (const [key, row] of before.rows)
      if (!rows.has(key) && webhooks.has(row.endpointId)) checkGone(row, []);
  }

  function observeProcesses(before: Known, { attempts, events }: WebhookBooks): void {
    checkRows(before.rows, attempts);
    checkEvents(events);
    countInARow(before.rows, attempts);
    for (const [endpointId, webhook] of webhooks) {
      const webhookBefore = before.webhooks.get(endpointId);
      checkLeaseHolder(webhookBefore, webhook);
      checkSuspension(webhookBefore, webhook);
    }
    for (const webhook of webhooks.values()) checkNotices(webhook);
  }

  return {
    get books() {
      return latest;
    },
    /** Compares the books with how they were before. */
    observe: (books: WebhookBooks, by: 'processes' | 'operator') => {
      const before = { rows, webhooks };
      latest = books;
      rows = new Map(books.deliveries.map(row => [keyOf(row), row]));
      webhooks = new Map(books.webhooks.map(webhook => [webhook.endpointId, webhook]));
      for (const row of rows.values())
        if (!webhooks.has(row.endpointId)) {
          violate('a delivery belongs to an endpoint that exists', nameOf(row));
          return;
        }
      noteChanges(before);
      if (by === 'operator') observeOperator(before);
      else observeProcesses(before, books);
    },
    webhookOf: (endpointId: Id<'whe'>) => webhooks.get(endpointId),
    find: (key: DeliveryKey) => rows.get(keyOf(key)),
    waiting: (endpointId: Id<'whe'>) =>
      [...rows.values()].filter(row => row.endpointId === endpointId && !row.givenUp),
    /** A process received this result for an event. */
    received: (key: DeliveryKey, verdict: SendResult) => {
      if (verdict.outcome === 'answered' && isTaken(verdict.status)) takenEvents.add(keyOf(key));
    },
    /** A process presumes another one dead. */
    presumedDead: (process: number, other: number) => void presumedDead.add(`${process} ${other}`),
    /** Once no faults are injected, every due delivery is sent in time. */
    checkWaiting: () => {
      if (world.faultsStoppedMs === undefined) return;
      for (const [key, row] of rows) {
        const dueMs = Math.max(world.faultsStoppedMs, changedMs.get(key)!, row.nextMs);
        if (isWaiting(row) && scheduler.nowMs() - dueMs > sentWithinMs)
          violate('what is due is sent', nameOf(row));
      }
    },
    hasWork: () => [...rows.values()].some(isWaiting),
    checkEnd: () => {
      for (const webhook of webhooks.values()) checkNotices(webhook);
    },
  };
}

/** Invariants of the webhook tables, checked after every change. */
export type WebhookModel = ReturnType<typeof createWebhookModel>;
