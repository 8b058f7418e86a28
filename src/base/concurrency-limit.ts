export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/** How much work each owner, such as a partner, may have under way at once in this process. */
export function createConcurrencyLimit() {
  const underWay = new Map<string, number>();
  return {
    /** Takes a place; returns how to give it back, or undefined if the owner has `max` already. */
    enter: (owner: string, max: number) => {
      const count = underWay.get(owner) ?? 0;
      if (count >= max) return undefined;
      underWay.set(owner, count + 1);
      return () => {
        const left = underWay.get(owner)! - 1;
        if (left > 0) underWay.set(owner, left);
        else underWay.delete(owner);
      };
    },
  };
}
