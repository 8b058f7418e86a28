import { InvalidArgumentError } from 'commander';
import { type Id, parseId } from '../base/ids.ts';
import { parseDay, parseInstant } from '../base/instants.ts';
import { isLabel } from '../base/label.ts';
import { parseKopecks, parseMicroUsdt } from '../base/money.ts';
import { programName } from '../base/program-name.ts';
import type { ChainHead } from '../db/audit/index.ts';
import { isAddressRange, maxOverlapMs, type Scope, scopes } from '../partners/index.ts';
import { parseStatus } from '../request-log/index.ts';
import { type EventKind, eventKinds } from '../webhooks/index.ts';

/** Parsers of arguments and options; commander reports what they refuse by name, with exit code 2. */
function refuse(wanted: string): never {
  throw new InvalidArgumentError(`It must be ${wanted}.`);
}

export function positiveUsdt(text: string): bigint {
  const amount = parseMicroUsdt(text);
  return (
    amount ||
    refuse('a positive amount such as 250 or 250.500000: at most 6 decimal places, below 1000000000')
  );
}

export function positiveRubles(text: string): bigint {
  const amount = parseKopecks(text);
  return (
    amount || refuse('a positive amount such as 100 or 100.50: at most 2 decimal places, below 1000000000')
  );
}

export const rublesOrNone = (text: string) => (text === 'none' ? text : positiveRubles(text));

const countUpTo = (max: number) => (text: string) =>
  /^[1-9]\d{0,8}$/.test(text) && Number(text) <= max
    ? Number(text)
    : refuse(`a whole number from 1 to ${max}`);

export const positiveCount = countUpTo(999_999_999);
export const pageSize = countUpTo(1_000);
export const demoPayments = countUpTo(10_000);
export const demoMinutes = countUpTo(1_440);

export function blockNumber(text: string): bigint {
  return /^\d{1,15}$/.test(text) ? BigInt(text) : refuse('the number of a block, such as 21000000');
}

export function basisPoints(text: string): number {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value <= 5_000 ? value : refuse('a whole number from 0 to 5000');
}

/** A percentage, in hundredths of a percent. */
export function hundredths(text: string): number {
  const value = Number(parseKopecks(text) ?? 0n);
  return value >= 1 && value <= 5_000 ? value : refuse('a percentage from 0.01 to 50, such as 5 or 2.5');
}

export function label(text: string): string {
  const trimmed = text.trim();
  return isLabel(trimmed) ? trimmed : refuse('1 to 128 characters, without line breaks');
}

export function addressRanges(text: string, before: string[] = []): string[] {
  return isAddressRange(text)
    ? [...before, text]
    : refuse('an IP address or a range, such as 192.0.2.7 or 2001:db8::/32');
}

export function httpStatus(text: string) {
  return parseStatus(text) ?? refuse('a status such as 404, or a class of them such as 4xx');
}

export function day(text: string): Date {
  return parseDay(text) ?? refuse('a day such as 2026-11-15');
}

/** The first moment of a month, UTC. */
export function month(text: string): Date {
  const first = /^\d{4}-\d{2}$/.test(text) ? parseDay(`${text}-01`) : undefined;
  return first ?? refuse('a month such as 2027-01');
}

/** As `kopeck audit verify` prints it. */
export function chainHead(text: string): ChainHead {
  const [, place, hash] = /^(\d{1,9}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (!hash) return refuse('a head such as 412:HASH, with 64 hexadecimal digits');
  // It is before the first record, so it would fit every chain.
  if (Number(place) === 0 && hash !== '0'.repeat(64))
    return refuse('a head of the log: at place 0 it has only zeros');
  return { place: Number(place), hash };
}

/** A day stands for its beginning in UTC. */
export function instant(text: string): Date {
  return parseInstant(text) ?? parseDay(text) ?? refuse('a time such as 2026-11-15T10:00:00Z');
}

const hourMs = 3_600_000;

/** A time, or how long from now, in milliseconds. */
export function expiry(text: string): Date | number {
  const [, days] = /^([1-9]\d{0,3})d$/.exec(text) ?? [];
  if (days !== undefined) return Number(days) * 24 * hourMs;
  return (
    parseInstant(text) ??
    parseDay(text) ??
    refuse('a number of days such as 90d, or a time such as 2027-11-15T10:00:00Z')
  );
}

/** How long the old key stays valid after a roll, in milliseconds. */
export function overlap(text: string): number {
  const [, count, unit] = /^(\d{1,3})([hd])$/.exec(text) ?? [];
  const ms = Number(count ?? Number.NaN) * (unit === 'd' ? 24 * hourMs : hourMs);
  return ms <= maxOverlapMs ? ms : refuse('a time of at most 7 days, such as 0h, 24h or 7d');
}

export function keyScopes(text: string, before: Scope[] = []): Scope[] {
  const scope = scopes.find(known => known === text) ?? refuse('read or pay');
  return [...new Set([...before, scope])];
}

export const endpoint = (text: string): Id<'whe'> =>
  parseId('whe', text) ??
  refuse(`an endpoint such as whe_01kvbm4vz8fnv8nyh3g1t2s9qa: see ${programName} webhook list`);

export function eventKindList(text: string): EventKind[] {
  const names = new Set(text.split(',').map(name => name.trim()));
  const kinds = eventKinds.filter(kind => names.has(kind));
  return kinds.length > 0 && kinds.length === names.size
    ? kinds
    : refuse(`one or more of ${eventKinds.join(', ')}, separated by commas`);
}
