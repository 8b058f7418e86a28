import type { Id } from '../../src/base/ids.ts';
import type { Verdict } from '../../src/webhooks/http/post.ts';
import type { BookedAttempt, BookedDelivery, BookedEvent, BookedWebhook, HookBooks } from './hook-books.ts';
import type { World } from './world.ts';

/** What must be true of the webhooks in the books, checked after every change. */
export interface HookModel {
  books: HookBooks;
  /** Looks at the books as they are now and holds them against what they were. */
  observe(books: HookBooks, by: 'processes' | 'operator'): void;
  webhookOf(partnerId: Id<'prt'>): BookedWebhook | undefined;
  find(eventId: string): BookedDelivery | undefined;
  waiting(partnerId: Id<'prt'>): string[];
  /** A process has heard this about an event. */
  heard(eventId: string, verdict: Verdict): void;
  /** A process was told that another one is dead. */
  tookForDead(process: number, other: number): void;
  /** With nothing else going wrong, what is due is sent. */
  checkWaiting(): void;
  hasWork(): boolean;
  checkEnd(): void;
}

export interface HookModelOptions {
  pausesSec: number[];
  isAlive(instance: number): boolean;
  /** Another process serves the partner now, or nobody, or the same one anew. */
  onOwnerChange(before: BookedWebhook, now: BookedWebhook): void;
}

/** How the books were when somebody looked last. */
interface Known {
  rows: Map<string, BookedDelivery>;
  webhooks: Map<Id<'prt'>, BookedWebhook>;
}

const sentWithinMs = 5 * 60_000;
const suspendAfter = 3;

export const isTaken = (status: number | null) => status !== null && status >= 200 && status < 300;

export function createHookModel(world: World, options: HookModelOptions): HookModel {
  const { violate, trace, scheduler } = world;
  const { pausesSec } = options;
  let rows = new Map<string, BookedDelivery>();
  let webhooks = new Map<Id<'prt'>, BookedWebhook>();
  const events = new Set<string>();
  const takenEvents = new Set<string>();
  const takenForDead = new Set<string>();
  const inARow = new Map<Id<'prt'>, number>();
  const suspensions = new Map<Id<'prt'>, number>();
  const givenUp = new Map<Id<'prt'>, number>();
  const changedMs = new Map<string, number>();
  const nameOf = (eventId: string) => trace.nameOf(`evt_${eventId}`);
  const add = (counts: Map<Id<'prt'>, number>, partnerId: Id<'prt'>) =>
    counts.set(partnerId, (counts.get(partnerId) ?? 0) + 1);

  const isLeaseOver = ({ ownedUntilMs }: BookedWebhook) =>
    ownedUntilMs !== null && ownedUntilMs <= scheduler.nowMs();

  /** Whoever let its lease run out and takes the partner again has not served it all the time. */
  const changesHands = (before: BookedWebhook, now: BookedWebhook) =>
    before.owner !== now.owner || (isLeaseOver(before) && before.ownedUntilMs !== now.ownedUntilMs);

  function checkOwner(before: BookedWebhook | undefined, now: BookedWebhook): void {
    if (!before || !changesHands(before, now)) return;
    options.onOwnerChange(before, now);
    const { owner } = before;
    if (owner === null || now.owner === null || owner === now.owner || !options.isAlive(owner)) return;
    if (!isLeaseOver(before) && !takenForDead.has(`${now.owner} ${owner}`))
      violate(
        'nobody takes a partner from a process that serves it',
        `process ${now.owner} took ${trace.nameOf(now.partnerId)} from process ${owner}`,
      );
  }

  function checkEvents(booked: BookedEvent[]): void {
    for (const { eventId, partnerId } of booked) {
      if (events.has(eventId)) continue;
      events.add(eventId);
      const row = rows.get(eventId);
      if (webhooks.has(partnerId) && (!row || row.attempts > 0 || row.givenUp))
        violate('an event of a partner with a webhook waits to be sent', nameOf(eventId));
    }
  }

  function checkGone(eventId: string, ends: BookedAttempt[]): void {
    if (!ends.some(end => end.eventId === eventId && isTaken(end.status)))
      violate('no event is gone before it was taken', `${nameOf(eventId)}, by the log`);
    if (!takenEvents.has(eventId))
      violate('no event is gone before it was taken', `${nameOf(eventId)}: no process heard so`);
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
    if (nextMs < end.atMs + pauseMs || nextMs > scheduler.nowMs() + pauseMs)
      violate('the next attempt comes after the pause of the schedule', detail);
  }

  function checkRows(before: Map<string, BookedDelivery>, ends: BookedAttempt[]): void {
    for (const eventId of before.keys()) if (!rows.has(eventId)) checkGone(eventId, ends);
    for (const now of rows.values()) {
      const known = before.get(now.eventId);
      if (known) checkRow(known, now, ends);
      else if (events.has(now.eventId))
        violate('what was taken is not sent again by itself', nameOf(now.eventId));
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
    const { partnerId, suspensionsTold, givenUpTold, openAlarms, suspended } = now;
    const rule = 'a partner is told once of what was given up and of a suspension, and people have an alarm';
    const [wasSuspended, wereGivenUp] = [suspensions.get(partnerId) ?? 0, givenUp.get(partnerId) ?? 0];
    if (suspensionsTold !== wasSuspended)
      violate(rule, `${trace.nameOf(partnerId)}: ${suspensionsTold} notices of ${wasSuspended} suspensions`);
    if (givenUpTold !== wereGivenUp)
      violate(rule, `${trace.nameOf(partnerId)}: ${givenUpTold} notices of ${wereGivenUp} given up`);
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

  /** People may change what they like, but nothing is gone by that. */
  function observeOperator(before: Known): void {
    for (const webhook of webhooks.values())
      if (isFreshStart(before.webhooks.get(webhook.partnerId), webhook)) inARow.set(webhook.partnerId, 0);
    for (const eventId of before.rows.keys()) if (!rows.has(eventId)) checkGone(eventId, []);
  }

  function observeProcesses(before: Known, { attempts, events }: HookBooks): void {
    checkRows(before.rows, attempts);
    checkEvents(events);
    countInARow(before.rows, attempts);
    for (const webhook of webhooks.values()) {
      const webhookBefore = before.webhooks.get(webhook.partnerId);
      checkOwner(webhookBefore, webhook);
      checkSuspension(webhookBefore, webhook);
      checkNotices(webhook);
    }
  }

  const model: HookModel = {
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
    heard: (eventId, verdict) => {
      if (verdict.outcome === 'answered' && isTaken(verdict.status)) takenEvents.add(eventId);
    },
    tookForDead: (process, other) => void takenForDead.add(`${process} ${other}`),
    checkWaiting: () => {
      if (world.calmSinceMs === undefined) return;
      for (const row of rows.values()) {
        const dueMs = Math.max(world.calmSinceMs, changedMs.get(row.eventId)!, row.nextMs);
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
