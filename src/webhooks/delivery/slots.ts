import type { Id } from '../../base/ids.ts';

/** An event on its way to an endpoint. */
export interface DeliveryKey {
  endpointId: Id<'whe'>;
  eventId: bigint;
}

export type EndAttempt = (result: { isDelivered: boolean; hasHung: boolean }) => void;

/** The endpoints that share one set of slots, and how many of it are free. Of each, how many more deliveries may begin. */
export interface SlotPlan {
  endpoints: { endpointId: Id<'whe'>; free: number }[];
  limit: number;
}

const maxPerReceiver = 16;
/** In one process. */
const maxQuick = 256;
const maxSlow = 128;
/** Over all: an attempt that hangs has left the quick slots but still has its socket. */
const maxUnderWay = 1_024;
/** Without an answer for this long, an attempt counts as slow. */
export const slowAfterMs = 250;

export type DeliverySlots = ReturnType<typeof createDeliverySlots>;

/**
 * Limits the attempts under way. A receiver that answers gets more attempts at a time, up to a maximum. One that leaves
 * an attempt without an answer moves from the quick slots to the few slow slots, which all such receivers share:
 * however many of them hang, receivers that answer, even with an error, do not wait for them.
 */
export function createDeliverySlots(nowMs: () => number) {
  const receivers = new Map<Id<'whe'>, Receiver>();
  let firstIndex = 0;

  /** Starts with another receiver each time, so that none is always served last. */
  function inRotation(): Receiver[] {
    const all = [...receivers.values()];
    firstIndex = all.length > 0 ? (firstIndex + 1) % all.length : 0;
    return [...all.slice(firstIndex), ...all.slice(0, firstIndex)];
  }

  return {
    add: (endpointId: Id<'whe'>) => {
      if (!receivers.has(endpointId)) receivers.set(endpointId, newReceiver(endpointId, nowMs()));
    },
    remove: (endpointId: Id<'whe'>) => void receivers.delete(endpointId),
    endpoints: () => [...receivers.keys()],
    /**
     * Returns how to end the attempt; undefined when it must not begin now: the endpoint was removed, or other attempts
     * exclude this one.
     */
    begin: (
      endpointId: Id<'whe'>,
      eventId: bigint,
      { isHanging, isExclusive }: { isHanging: boolean; isExclusive: boolean },
    ): EndAttempt | undefined => {
      const receiver = receivers.get(endpointId);
      if (!receiver || (isExclusive && receiver.underWay.size > 0)) return undefined;
      receiver.underWay.set(eventId, nowMs());
      receiver.isHanging = isHanging;
      receiver.lastActiveMs = nowMs();
      if (isExclusive) receiver.maxUnderWay = 1;
      // For this receiver only: an endpoint that was removed and added again meanwhile has a new one, which may send the same
      // event again, and must not count as idle then.
      return ({ isDelivered, hasHung }) => {
        receiver.underWay.delete(eventId);
        receiver.lastActiveMs = nowMs();
        receiver.isHanging = hasHung;
        receiver.maxUnderWay = isDelivered ? Math.min(receiver.maxUnderWay * 2, maxPerReceiver) : 1;
      };
    },
    /** The free quick slots and the free slow slots, where there are any. */
    plan: () => planSlots(inRotation(), nowMs()),
    inFlight: (): DeliveryKey[] =>
      Array.from(receivers.values(), ({ endpointId, underWay }) =>
        Array.from(underWay.keys(), eventId => ({ endpointId, eventId })),
      ).flat(),
    /** Endpoints without an attempt for at least this long. */
    idle: (ms: number) =>
      Array.from(receivers.values())
        .filter(({ underWay, lastActiveMs }) => underWay.size === 0 && nowMs() - lastActiveMs >= ms)
        .map(({ endpointId }) => endpointId),
  };
}

type Receiver = ReturnType<typeof newReceiver>;

const newReceiver = (endpointId: Id<'whe'>, nowMs: number) => ({
  endpointId,
  /** When each attempt began, by event. */
  underWay: new Map<bigint, number>(),
  /** Attempts at a time. */
  maxUnderWay: 1,
  isHanging: false,
  lastActiveMs: nowMs,
});

function planSlots(receivers: Receiver[], nowMs: number): SlotPlan[] {
  const quick: SlotPlan = { endpoints: [], limit: maxQuick };
  const slow: SlotPlan = { endpoints: [], limit: maxSlow };
  let unused = maxUnderWay;
  for (const receiver of receivers) {
    const { endpointId, underWay } = receiver;
    unused -= underWay.size;
    const slots = isSlow(receiver, nowMs) ? slow : quick;
    slots.limit -= underWay.size;
    const free = (slots === slow ? 1 : receiver.maxUnderWay) - underWay.size;
    if (free > 0) slots.endpoints.push({ endpointId, free });
  }
  return [quick, slow]
    .map(({ endpoints, limit }) => ({ endpoints, limit: Math.min(limit, unused) }))
    .filter(({ endpoints, limit }) => limit > 0 && endpoints.length > 0);
}

function isSlow({ isHanging, underWay }: Receiver, nowMs: number): boolean {
  if (isHanging) return true;
  for (const startedMs of underWay.values()) if (nowMs - startedMs >= slowAfterMs) return true;
  return false;
}
