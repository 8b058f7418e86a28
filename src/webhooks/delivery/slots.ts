import type { Id } from '../../base/ids.ts';
import { createSharedSlots, type SlotCounts, type SlotShare } from './shared-slots.ts';

/** How many more deliveries may begin for a partner. */
export interface FreeSlots {
  partnerId: Id<'prt'>;
  free: number;
}

export type EndAttempt = (result: { isDelivered: boolean; hasHung: boolean }) => void;

/** The partners that share one set of slots, and how many of it are free. */
export interface SlotPlan {
  partners: FreeSlots[];
  limit: number;
}

/**
 * Limits the attempts under way. A receiver that answers gets more attempts at a time, up to a maximum. One that leaves
 * an attempt without an answer moves from the quick slots to the few slow slots, which all such receivers share:
 * however many of them hang, receivers that answer, even with an error, do not wait for them.
 */
export interface DeliverySlots {
  add(partnerId: Id<'prt'>): void;
  remove(partnerId: Id<'prt'>): void;
  partners(): Id<'prt'>[];
  /**
   * Returns how to end the attempt; undefined when it must not begin now: the partner was removed, or other attempts
   * exclude this one.
   */
  begin(
    partnerId: Id<'prt'>,
    eventId: bigint,
    options: { isHanging: boolean; isExclusive: boolean },
  ): EndAttempt | undefined;
  /** The free quick slots and the free slow slots, where there are any. */
  plan(): SlotPlan[];
  inFlight(): bigint[];
  /** Partners without an attempt for at least this long. */
  idle(ms: number): Id<'prt'>[];
}

interface Receiver {
  partnerId: Id<'prt'>;
  /** When each attempt began, by event. */
  underWay: Map<bigint, number>;
  /** Attempts at a time. */
  maxUnderWay: number;
  isHanging: boolean;
  lastActiveMs: number;
}

const maxPerReceiver = 16;
/** Without an answer for this long, an attempt counts as slow. */
export const slowAfterMs = 250;

export function createDeliverySlots(
  nowMs: () => number,
  share: SlotShare = createSharedSlots(1).of(0),
): DeliverySlots {
  const receivers = new Map<Id<'prt'>, Receiver>();
  share.countWith(() => countUsed(receivers.values(), nowMs()));
  let firstIndex = 0;

  /** Starts with another receiver each time, so that none is always served last. */
  function inRotation(): Receiver[] {
    const all = [...receivers.values()];
    firstIndex = all.length > 0 ? (firstIndex + 1) % all.length : 0;
    return [...all.slice(firstIndex), ...all.slice(0, firstIndex)];
  }

  return {
    add: partnerId => {
      if (!receivers.has(partnerId)) receivers.set(partnerId, newReceiver(partnerId, nowMs()));
    },
    remove: partnerId => void receivers.delete(partnerId),
    partners: () => [...receivers.keys()],
    begin: (partnerId, eventId, { isHanging, isExclusive }) => {
      const receiver = receivers.get(partnerId);
      if (!receiver || (isExclusive && receiver.underWay.size > 0)) return undefined;
      receiver.underWay.set(eventId, nowMs());
      receiver.isHanging = isHanging;
      receiver.lastActiveMs = nowMs();
      if (isExclusive) receiver.maxUnderWay = 1;
      // Of this receiver: a partner that was removed and added again meanwhile has a new one, which may send the same
      // event again, and must not count as idle then.
      return ({ isDelivered, hasHung }) => {
        receiver.underWay.delete(eventId);
        receiver.lastActiveMs = nowMs();
        receiver.isHanging = hasHung;
        receiver.maxUnderWay = isDelivered ? Math.min(receiver.maxUnderWay * 2, maxPerReceiver) : 1;
      };
    },
    plan: () => planSlots(inRotation(), nowMs(), share.limits()),
    inFlight: () => Array.from(receivers.values(), ({ underWay }) => [...underWay.keys()]).flat(),
    idle: ms =>
      Array.from(receivers.values())
        .filter(({ underWay, lastActiveMs }) => underWay.size === 0 && nowMs() - lastActiveMs >= ms)
        .map(({ partnerId }) => partnerId),
  };
}

const newReceiver = (partnerId: Id<'prt'>, nowMs: number): Receiver => ({
  partnerId,
  underWay: new Map(),
  maxUnderWay: 1,
  isHanging: false,
  lastActiveMs: nowMs,
});

/** The slots that attempts under way have. */
function countUsed(receivers: Iterable<Receiver>, nowMs: number): SlotCounts {
  const used: SlotCounts = { quick: 0, slow: 0, underWay: 0 };
  for (const receiver of receivers) {
    used[isSlow(receiver, nowMs) ? 'slow' : 'quick'] += receiver.underWay.size;
    used.underWay += receiver.underWay.size;
  }
  return used;
}

function planSlots(receivers: Receiver[], nowMs: number, limits: SlotCounts): SlotPlan[] {
  const quick: SlotPlan = { partners: [], limit: limits.quick };
  const slow: SlotPlan = { partners: [], limit: limits.slow };
  let unused = limits.underWay;
  for (const receiver of receivers) {
    const { partnerId, underWay } = receiver;
    unused -= underWay.size;
    const slots = isSlow(receiver, nowMs) ? slow : quick;
    slots.limit -= underWay.size;
    const free = (slots === slow ? 1 : receiver.maxUnderWay) - underWay.size;
    if (free > 0) slots.partners.push({ partnerId, free });
  }
  return [quick, slow]
    .map(({ partners, limit }) => ({ partners, limit: Math.min(limit, unused) }))
    .filter(({ partners, limit }) => limit > 0 && partners.length > 0);
}

function isSlow({ isHanging, underWay }: Receiver, nowMs: number): boolean {
  if (isHanging) return true;
  for (const startedMs of underWay.values()) if (nowMs - startedMs >= slowAfterMs) return true;
  return false;
}
