/** The only source of randomness of a run: the same seed gives the same run. */
export interface Random {
  chance(probability: number): boolean;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  pick<Item>(items: readonly Item[]): Item;
  shuffle<Item>(items: Item[]): Item[];
}

/** Mulberry32: small, quick and even enough to choose what happens next. */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    chance: probability => next() < probability,
    between,
    pick: items => items[between(0, items.length - 1)]!,
    shuffle: items => {
      for (let index = items.length - 1; index > 0; index--) {
        const other = between(0, index);
        [items[index], items[other]] = [items[other]!, items[index]!];
      }
      return items;
    },
  };
}
