import type { Id } from '../../src/base/ids.ts';
import type { SendResult } from '../../src/webhooks/http/post.ts';
import type {
  BookedAttempt,
  BookedDelivery,
  BookedEvent,
  BookedWebhook,
  WebhookBooks,
} from './webhook-books.ts';
import type { World } from './world.ts';

/** Invariants of the webhook tables, checked after every change. */
export interface WebhookModel {
  books: WebhookBooks;
  /** Compares the books with how they were before. */
  observe(books: WebhookBooks, by: 'processes' | 'operator'): void;
  webhookOf(partnerId: Id<'prt'>): BookedWebhook | undefined;
  find(eventId: string): BookedDelivery | undefined;
  waiting(partnerId: Id<'prt'>): string[];
  /** A process received this result for an event. */
  received(eventId: string, verdict: SendResult): void;
  /** A process presumes another one dead. */
  presumedDead(process: number, other: number): void;
  /** Once no faults are injected, every due delivery is sent in time. */
  checkWaiting(): void;
  hasWork(): boolean;
  checkEnd(): void;
}

export interface WebhookModelOptions {
  pausesSec: number[];
  isAlive(instance: number): boolean;
  /** The lease on the partner was taken by another process, released, or taken again after it had expired. */
  onLeaseChange(before: BookedWebhook, now: BookedWebhook): void;
}

/** The books at the last check. */
interface Known {
  rows: Map<string, BookedDelivery>;
  webhooks: Map<Id<'prt'>, BookedWebhook>;
}

const sentWithinMs = 5 * 60_000;
const suspendAfter = 3;

export const isTaken = (status: number | null) => status !== null && status >= 200 && status < 300;

export function createWebhookModel(world: World, options: WebhookModelOptions): WebhookModel {
  const { violate, trace, scheduler } = world;
  const { pausesSec } = options;
  let rows = new Map<string, BookedDelivery>();
  let webhooks = new Map<Id<'prt'>, BookedWebhook>();
  const events = new Set<string>();
  const takenEvents = new Set<string>();
  const presumedDead = new Set<string>();
  const inARow = new Map<Id<'prt'>, number>();
  const suspensions = new Map<Id<'prt'>, number>();
  const givenUp = new Map<Id<'prt'>, number>();
  const changedMs = new Map<string, number>();
  const nameOf = (eventId: string) => trace.nameOf(`evt_${eventId}`);
  const add = (counts: Map<Id<'prt'>, number>, partnerId: Id<'prt'>) =>
    counts.set(partnerId, (counts.get(partnerId) ?? 0) + 1);

  const isLeaseOver = ({ leasedUntilMs }: BookedWebhook) =>
    leasedUntilMs !== null && leasedUntilMs <= scheduler.nowMs() + world.clockErrorMs;

  /** A process that takes the partner again after its lease has expired counts as a new holder. */
  const hasLeaseChanged = (before: BookedWebhook, now: BookedWebhook) =>
    before.leaseHolder !== now.leaseHolder ||
    (isLeaseOver(before) && before.leasedUntilMs !== now.leasedUntilMs);

  function checkLeaseHolder(before: BookedWebhook | undefined, now: BookedWebhook): void {
    if (!before || !hasLeaseChanged(before, now)) return;
    options.onLeaseChange(before, now);
    const { leaseHolder } = before;
    if (
      leaseHolder === null ||
      now.leaseHolder === null ||
      leaseHolder === now.leaseHolder ||
      !options.isAlive(leaseHolder)
    )
      return;
    if (!isLeaseOver(before) && !presumedDead.has(`${now.leaseHolder} ${leaseHolder}`))
      violate(
        'no process takes the lease of a live process before it expires',
        `process ${now.leaseHolder} took ${trace.nameOf(now.partnerId)} from process ${leaseHolder}`,
      );
  }

  function checkEvents(booked: BookedEvent[]): void {
    for (const { eventId, partnerId } of booked) {
      if (events.has(eventId)) continue;
      events.add(eventId);
      const row = rows.get(eventId);
      if (webhooks.has(partnerId) && (!row || row.attempts > 0 || row.givenUp))
        violate('an event of a partner with a webhook has a delivery', nameOf(eventId));
    }
  }

  function checkGone(eventId: string, ends: BookedAttempt[]): void {
    if (!ends.some(end => end.eventId === eventId && isTaken(end.status)))
      violate('no delivery is removed before the receiver took it', `${nameOf(eventId)}, by the log`);
    if (!takenEvents.has(eventId))
      violate(
        'no delivery is removed before the receiver took it',
        `${nameOf(eventId)}: no process got a 2xx`,
      );
  }

  function checkRow(before: BookedDelivery, now: BookedDelivery, ends: BookedAttempt[]): void {
    const { eventId, attempts, nextMs } = now;
    if (before.attempts === attempts && before.nextMs === nextMs && before.givenUp === now.givenUp) return;
    const detail = `${nameOf(eventId)}: ${JSON.stringify(before)}, now ${JSON.stringify(now)}`;
    const end = ends.find(end => end.eventId === eventId && end.attempt === attempts);
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
    for (const eventId of before.keys()) if (!rows.has(eventId)) checkGone(eventId, ends);
    for (const now of rows.values()) {
      const known = before.get(now.eventId);
      if (known) checkRow(known, now, ends);
      else if (events.has(now.eventId))
        violate('an event that was taken is not sent again automatically', nameOf(now.eventId));
    }
  }

  /** Three given up in a row, with none taken in between, suspend sending; the books are read after every batch. */
  function countInARow(before: Map<string, BookedDelivery>, ends: BookedAttempt[]): void {
    const counted = new Set<string>();
    for (const { eventId, partnerId, status } of ends) {
      if (isTaken(status)) inARow.set(partnerId, 0);
      else if (rows.get(eventId)?.givenUp && !before.get(eventId)?.givenUp && !counted.has(eventId)) {
        counted.add(eventId);
        add(inARow, partnerId);
      }
    }
  }

  function checkSuspension(before: BookedWebhook | undefined, now: BookedWebhook): void {
    const { partnerId, suspended } = now;
    const count = inARow.get(partnerId) ?? 0;
    const wasSuspended = before?.suspended ?? false;
    if (suspended !== (wasSuspended || count >= suspendAfter))
      violate(
        'three events given up in a row suspend sending, and nothing else does',
        `${trace.nameOf(partnerId)} after ${count}: ${suspended}`,
      );
    if (suspended && !wasSuspended) {
      trace.add('books', `sending to ${trace.nameOf(partnerId)} is suspended`);
      add(suspensions, partnerId);
    }
  }

  function checkNotices(now: BookedWebhook): void {
    const { partnerId, suspensionNotices, givenUpNotices, openAlarms, suspended } = now;
    const rule =
      'a partner gets one notice per event given up and per suspension, and operators get an alarm';
    const [wasSuspended, wereGivenUp] = [suspensions.get(partnerId) ?? 0, givenUp.get(partnerId) ?? 0];
    if (suspensionNotices !== wasSuspended)
      violate(
        rule,
        `${trace.nameOf(partnerId)}: ${suspensionNotices} notices of ${wasSuspended} suspensions`,
      );
    if (givenUpNotices !== wereGivenUp)
      violate(rule, `${trace.nameOf(partnerId)}: ${givenUpNotices} notices of ${wereGivenUp} given up`);
    if (openAlarms !== (suspended ? 1 : 0))
      violate(rule, `${trace.nameOf(partnerId)}: suspended ${suspended}, ${openAlarms} open alarms`);
  }

  /** Sending was enabled again, or goes to another address: what was given up before does not count. */
  const isFreshStart = (before: BookedWebhook | undefined, now: BookedWebhook) =>
    before?.url !== now.url || (before.suspended && !now.suspended);

  const isWaiting = ({ givenUp, partnerId }: BookedDelivery) =>
    !givenUp && !webhooks.get(partnerId)!.suspended;

  function noteChanges(before: Known): void {
    for (const row of rows.values())
      if (
        JSON.stringify(row) !== JSON.stringify(before.rows.get(row.eventId)) ||
        before.webhooks.get(row.partnerId)?.suspended
      )
        changedMs.set(row.eventId, scheduler.nowMs());
  }

  /** An operator may change anything, but no delivery is removed by that. */
  function observeOperator(before: Known): void {
    for (const webhook of webhooks.values())
      if (isFreshStart(before.webhooks.get(webhook.partnerId), webhook)) inARow.set(webhook.partnerId, 0);
    for (const eventId of before.rows.keys()) if (!rows.has(eventId)) checkGone(eventId, []);
  }

  function observeProcesses(before: Known, { attempts, events }: WebhookBooks): void {
    checkRows(before.rows, attempts);
    checkEvents(events);
    countInARow(before.rows, attempts);
    for (const webhook of webhooks.values()) {
      const webhookBefore = before.webhooks.get(webhook.partnerId);
      checkLeaseHolder(webhookBefore, webhook);
      checkSuspension(webhookBefore, webhook);
      checkNotices(webhook);
    }
  }

  const model: WebhookModel = {
    books: { webhooks: [], deliveries: [], attempts: [], events: [] },
    observe: (books, by) => {
      const before = { rows, webhooks };
      model.books = books;
      rows = new Map(books.deliveries.map(row => [row.eventId, row]));
      webhooks = new Map(books.webhooks.map(webhook => [webhook.partnerId, webhook]));
      noteChanges(before);
      if (by === 'operator') observeOperator(before);
      else observeProcesses(before, books);
    },
    webhookOf: partnerId => webhooks.get(partnerId),
    find: eventId => rows.get(eventId),
    waiting: partnerId =>
      [...rows.values()].filter(row => row.partnerId === partnerId && !row.givenUp).map(row => row.eventId),
    received: (eventId, verdict) => {
      if (verdict.outcome === 'answered' && isTaken(verdict.status)) takenEvents.add(eventId);
    },
    presumedDead: (process, other) => void presumedDead.add(`${process} ${other}`),
    checkWaiting: () => {
      if (world.faultsStoppedMs === undefined) return;
      for (const row of rows.values()) {
        const dueMs = Math.max(world.faultsStoppedMs, changedMs.get(row.eventId)!, row.nextMs);
        if (isWaiting(row) && scheduler.nowMs() - dueMs > sentWithinMs)
          violate('what is due is sent', nameOf(row.eventId));
      }
    },
    hasWork: () => [...rows.values()].some(isWaiting),
    checkEnd: () => {
      for (const webhook of webhooks.values()) checkNotices(webhook);
    },
  };
  return model;
}
