import { refuseSetting } from './operator-error.ts';

/** A setting that is a number; it is refused outside of the bounds. */
export function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max
    ? value
    : refuseSetting(name, `must be a whole number from ${min} to ${max}, not "${text}"`);
}
