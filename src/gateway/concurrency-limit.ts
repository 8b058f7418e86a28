/** How many calls each partner may have under way at once, in this process. */
export interface ConcurrencyLimit {
  /** Takes a place; returns how to give it back, or undefined if the partner has `max` already. */
  enter(partnerId: string, max: number): (() => void) | undefined;
}

export function createConcurrencyLimit(): ConcurrencyLimit {
  const underWay = new Map<string, number>();
  return {
    enter: (partnerId, max) => {
      const count = underWay.get(partnerId) ?? 0;
      if (count >= max) return undefined;
      underWay.set(partnerId, count + 1);
      return () => {
        const left = underWay.get(partnerId)! - 1;
        if (left > 0) underWay.set(partnerId, left);
        else underWay.delete(partnerId);
      };
    },
  };
}
