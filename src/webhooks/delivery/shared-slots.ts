export interface SlotCounts {
  quick: number;
  slow: number;
  /** Over all: an attempt that hangs has left the quick slots but still has its socket. */
  underWay: number;
}

/** Of one process, however many shards it serves. */
const allSlots: SlotCounts = { quick: 256, slow: 128, underWay: 1_024 };

/** What one shard has of the slots of its process. */
export interface SlotShare {
  /** Says how to count what this shard uses now. */
  countWith(count: () => SlotCounts): void;
  /** How many it may use now, those in use included. */
  limits(): SlotCounts;
}

const none: SlotCounts = { quick: 0, slow: 0, underWay: 0 };
const mapCounts = (of: (kind: keyof SlotCounts) => number): SlotCounts => ({
  quick: of('quick'),
  slow: of('slow'),
  underWay: of('underWay'),
});

/**
 * Shares the slots of a process between the shards that it serves. A shard may use what the others leave, but for half of an equal
 * part of each: an idle shard finds slots at once, however busy the others are, and a busy one is not limited to its part.
 */
export function createSharedSlots(shards: number): { of(shard: number): SlotShare } {
  const counts = Array.from({ length: shards }, () => () => none);
  const kept = mapCounts(kind => Math.floor(allSlots[kind] / (2 * shards)));
  return {
    of: shard => ({
      countWith: count => {
        counts[shard] = count;
      },
      limits: () => {
        const others = counts.filter((_, other) => other !== shard).map(count => count());
        return mapCounts(kind =>
          others.reduce((left, used) => left - Math.max(used[kind], kept[kind]), allSlots[kind]),
        );
      },
    }),
  };
}
