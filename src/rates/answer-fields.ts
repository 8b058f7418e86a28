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
  return Array.isArray(value) ? value : fail(`${name} is not a list`);
}

/** The first object of a list whose fields have these values. */
export function entry(items: JsonValue[], wanted: Record<string, string>): JsonObject {
  const matches = (item: JsonValue): item is JsonObject =>
    item instanceof Map && Object.entries(wanted).every(([key, value]) => item.get(key) === value);
  return items.find(matches) ?? fail(`there is no ${Object.values(wanted).join(' to ')}`);
}

export function expectNumber(value: JsonValue, name: string, expected: string): void {
  if (!(value instanceof JsonNumber && value.source === expected)) fail(`${name} is not ${expected}`);
}

export const numberPrice = (value: JsonValue, name: string) =>
  price(value instanceof JsonNumber ? value.source : undefined, name);

export const textPrice = (value: JsonValue, name: string) =>
  price(typeof value === 'string' ? value : undefined, name);

export const anyPrice = (value: JsonValue, name: string) =>
  value instanceof JsonNumber ? numberPrice(value, name) : textPrice(value, name);

/** In units of 10^-30, as `parsePrice` returns it. Zero is no price. */
function price(text: string | undefined, name: string): bigint {
  return (text !== undefined && parsePrice(text)) || fail(`${name} is not a positive decimal`);
}

export function unixSeconds(value: JsonValue, name: string): number {
  const source = value instanceof JsonNumber ? value.source : '';
  return /^\d{1,11}$/.test(source) ? Number(source) : fail(`${name} is not a time in whole seconds`);
}

export function fail(reason: string): never {
  throw new Error(reason);
}
