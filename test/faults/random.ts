export interface Random {
  chance(probability: number): boolean;
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number;
  pick<Item>(items: readonly Item[]): Item;
  shuffled<Item>(items: readonly Item[]): Item[];
}

/** Numbers that follow from the seed alone (mulberry32), so that a run can be played again as far as time allows. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    chance: probability => next() < probability,
    between,
    pick: items => items[between(0, items.length - 1)]!,
    shuffled: items => {
      const rest = [...items];
      return items.map(() => rest.splice(between(0, rest.length - 1), 1)[0]!);
    },
  };
}
