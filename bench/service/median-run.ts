import type { Figure } from './figures.ts';

const isNumber = (value: unknown): value is number => typeof value === 'number';

/** By its bar if it has one, else by its rate, else by the first number that was measured. */
const sizeOf = ({ bar, values }: Figure): number =>
  [bar?.value, values.perSecond, ...Object.values(values)].find(isNumber) ?? 0;

/** Every figure as in the run in which it had its median. All runs have the same figures in the same order. */
export const medianOfRuns = (runs: Figure[][]): Figure[] =>
  runs[0]!.map((_, place) => {
    const ofAllRuns = runs.map(figures => figures[place]!).toSorted((a, b) => sizeOf(a) - sizeOf(b));
    return ofAllRuns[(ofAllRuns.length - 1) >> 1]!;
  });
