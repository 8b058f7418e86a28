import type { Id } from '../../base/ids.ts';
import type { Place } from './deliveries.ts';

/**
 * Who may be sent to next, and how much at once. A receiver that answers quickly gets more attempts at a time, up to a
 * cap. One that leaves an attempt without an answer for a moment moves to a lane of its own with few places for all of its kind:
 * however many of them hang, those who answer, be it with an error, do not wait for them.
 */
export interface DeliverySlots {
  add(partnerId: Id<'prt'>): void;
  remove(partnerId: Id<'prt'>): void;
  partners(): Id<'prt'>[];
  /** False when it must not begin now: the partner is not ours any more, or this one may not go beside another. */
  begin(partnerId: Id<'prt'>, eventId: bigint, options: { hanging: boolean; alone: boolean }): boolean;
  end(partnerId: Id<'prt'>, eventId: bigint, how: { delivered: boolean; hung: boolean }): void;
  /** For each lane: who has places, how many, and how many there are in all. */
  plan(): { places: Place[]; limit: number }[];
  inFlight(): bigint[];
  /** Partners for whom nothing is under way and nothing was for so long. */
  idle(ms: number): Id<'prt'>[];
}

interface Receiver {
  partnerId: Id<'prt'>;
  underWay: Map<bigint, number>;
  /** Attempts at a time. */
  width: number;
  hanging: boolean;
  lastMs: number;
}

const quickPlaces = 256;
const slowPlaces = 128;
const mostAtOnce = 16;
/** Over all; what hangs has left the quick lane but not its socket. */
const mostUnderWay = 1_024;
/** Without an answer for this long, an attempt counts as slow. */
export const slowAfterMs = 250;

export function createDeliverySlots(nowMs: () => number): DeliverySlots {
  const receivers = new Map<Id<'prt'>, Receiver>();
  let turn = 0;

  const isSlow = (receiver: Receiver, now: number) => {
    if (receiver.hanging) return true;
    for (const startedMs of receiver.underWay.values()) if (now - startedMs >= slowAfterMs) return true;
    return false;
  };

  return {
    add: partnerId => {
      if (receivers.has(partnerId)) return;
      const fresh = { partnerId, underWay: new Map(), width: 1, hanging: false, lastMs: nowMs() };
      receivers.set(partnerId, fresh);
    },
    remove: partnerId => void receivers.delete(partnerId),
    partners: () => [...receivers.keys()],
    begin: (partnerId, eventId, { hanging, alone }) => {
      const receiver = receivers.get(partnerId);
      if (!receiver || (alone && receiver.underWay.size > 0)) return false;
      receiver.underWay.set(eventId, nowMs());
      receiver.hanging = hanging;
      receiver.lastMs = nowMs();
      if (alone) receiver.width = 1;
      return true;
    },
    end: (partnerId, eventId, { delivered, hung }) => {
      const receiver = receivers.get(partnerId);
      if (!receiver) return;
      receiver.underWay.delete(eventId);
      receiver.lastMs = nowMs();
      receiver.hanging = hung;
      receiver.width = delivered ? Math.min(receiver.width * 2, mostAtOnce) : 1;
    },
    plan: () => {
      const now = nowMs();
      const quick = { places: [] as Place[], limit: quickPlaces };
      const slow = { places: [] as Place[], limit: slowPlaces };
      const all = [...receivers.values()];
      // Whoever was first in the last round is not first in this one.
      turn = all.length > 0 ? (turn + 1) % all.length : 0;
      let free = mostUnderWay;
      for (const receiver of [...all.slice(turn), ...all.slice(0, turn)]) {
        free -= receiver.underWay.size;
        const lane = isSlow(receiver, now) ? slow : quick;
        lane.limit -= receiver.underWay.size;
        const places = (lane === slow ? 1 : receiver.width) - receiver.underWay.size;
        if (places > 0) lane.places.push({ partnerId: receiver.partnerId, places });
      }
      quick.limit = Math.min(quick.limit, free);
      slow.limit = Math.min(slow.limit, free);
      return [quick, slow].filter(lane => lane.limit > 0 && lane.places.length > 0);
    },
    inFlight: () => Array.from(receivers.values(), ({ underWay }) => [...underWay.keys()]).flat(),
    idle: ms => {
      const now = nowMs();
      return Array.from(receivers.values())
        .filter(({ underWay, lastMs }) => underWay.size === 0 && now - lastMs >= ms)
        .map(({ partnerId }) => partnerId);
    },
  };
}
