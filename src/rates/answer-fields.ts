import { JsonNumber, type JsonObject, type JsonValue } from '../base/json.ts';
import { parsePrice } from '../base/money.ts';

/**
 * Readers for the answers of sources. None of them guesses: a field that is missing or of another type is an error that
 * names it.
 */
export function member(value: JsonValue | undefined, name: string): JsonValue {
  const found = value instanceof Map ? value.get(name) : undefined;
  return found === undefined ? fail(`${name} is missing`) : found;
}

export function list(value: JsonValue, name: string): JsonValue[] {
  const found = member(value, name);
  return Array.isArray(found) ? found : fail(`${name} is not a list`);
}

/** The first object of a list whose fields have these values. */
export function entry(items: JsonValue[], wanted: Record<string, string>): JsonObject {
  const matches = (item: JsonValue): item is JsonObject =>
    item instanceof Map && Object.entries(wanted).every(([key, value]) => item.get(key) === value);
  return items.find(matches) ?? fail(`there is no ${Object.values(wanted).join(' to ')}`);
}

/** The digits of a number, and the text of a text; undefined for other values. */
const numberIn = (value: JsonValue) => (value instanceof JsonNumber ? value.source : undefined);
const textIn = (value: JsonValue) => (typeof value === 'string' ? value : undefined);

export function expectNumber(value: JsonValue, name: string, expected: string): void {
  if (numberIn(member(value, name)) !== expected) fail(`${name} is not ${expected}`);
}

export const numberPrice = (value: JsonValue, name: string) => price(numberIn(member(value, name)), name);
export const textPrice = (value: JsonValue, name: string) => price(textIn(member(value, name)), name);

export function anyPrice(value: JsonValue, name: string, shown = name): bigint {
  const found = member(value, name);
  return price(numberIn(found) ?? textIn(found), shown);
}

/** In units of 10^-30, as `parsePrice` returns it. Zero is no price. */
function price(text: string | undefined, name: string): bigint {
  return (text !== undefined && parsePrice(text)) || fail(`${name} is not a positive decimal`);
}

export function unixSeconds(value: JsonValue, name: string): number {
  const source = numberIn(member(value, name)) ?? '';
  return /^\d{1,11}$/.test(source) ? Number(source) : fail(`${name} is not a time in whole seconds`);
}

export function fail(reason: string): never {
  throw new Error(reason);
}
