import { InvalidArgumentError } from 'commander';
import { parseId } from '../base/ids.ts';
import { parseDay, parseInstant } from '../base/instants.ts';
import { isLabel } from '../base/label.ts';
import { parseKopecks, parseMicroUsdt } from '../base/money.ts';
import { programName } from '../base/program-name.ts';
import type { ChainHead } from '../db/audit/index.ts';
import { isAddressRange, maxOverlapMs, type Scope, scopes } from '../partners/index.ts';
import { parseStatus } from '../request-log/index.ts';

/** Parsers of arguments and options; commander reports what they refuse by name, with exit code 2. */
function refuse(wanted: string): never {
  throw new InvalidArgumentError(`It must be ${wanted}.`);
}

/** Takes what can be read: a parser returns undefined for anything else. */
export const taking =
  <Value>(parse: (text: string) => Value | undefined, wanted: string) =>
  (text: string): Value =>
    parse(text) ?? refuse(wanted);

export const positiveUsdt = taking(
  text => parseMicroUsdt(text) || undefined,
  'a positive amount such as 250 or 250.500000: at most 6 decimal places, below 1000000000',
);
export const positiveRubles = taking(
  text => parseKopecks(text) || undefined,
  'a positive amount such as 100 or 100.50: at most 2 decimal places, below 1000000000',
);
export const rublesOrNone = (text: string) => (text === 'none' ? text : positiveRubles(text));

const wholeNumber = (min: number, max: number) =>
  taking(text => {
    const value = /^(?:0|[1-9]\d{0,8})$/.test(text) ? Number(text) : -1;
    return value >= min && value <= max ? value : undefined;
  }, `a whole number from ${min} to ${max}`);

export const positiveCount = wholeNumber(1, 999_999_999);
export const pageSize = wholeNumber(1, 1_000);
export const demoPayments = wholeNumber(1, 10_000);
export const demoMinutes = wholeNumber(1, 1_440);
export const basisPoints = wholeNumber(0, 5_000);

export const blockNumber = taking(
  text => (/^\d{1,15}$/.test(text) ? BigInt(text) : undefined),
  'the number of a block, such as 21000000',
);

/** A percentage, in hundredths of a percent. */
export const hundredths = taking(text => {
  const value = Number(parseKopecks(text) ?? 0n);
  return value >= 1 && value <= 5_000 ? value : undefined;
}, 'a percentage from 0.01 to 50, such as 5 or 2.5');

export const label = taking(
  text => (isLabel(text.trim()) ? text.trim() : undefined),
  '1 to 128 characters, without line breaks',
);

export function addressRanges(text: string, before: string[] = []): string[] {
  return isAddressRange(text)
    ? [...before, text]
    : refuse('an IP address or a range, such as 192.0.2.7 or 2001:db8::/32');
}

export const httpStatus = taking(parseStatus, 'a status such as 404, or a class of them such as 4xx');

export const day = taking(parseDay, 'a day such as 2026-11-15');

/** The first moment of a month, UTC. */
export const month = taking(
  text => (/^\d{4}-\d{2}$/.test(text) ? parseDay(`${text}-01`) : undefined),
  'a month such as 2027-01',
);

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
const parseTime = (text: string) => parseInstant(text) ?? parseDay(text);
export const instant = taking(parseTime, 'a time such as 2026-11-15T10:00:00Z');

const hourMs = 3_600_000;

/** A time, or how long from now, in milliseconds. */
export const expiry = taking((text): Date | number | undefined => {
  const [, days] = /^([1-9]\d{0,3})d$/.exec(text) ?? [];
  return days === undefined ? parseTime(text) : Number(days) * 24 * hourMs;
}, 'a number of days such as 90d, or a time such as 2027-11-15T10:00:00Z');

/** How long the old key stays valid after a roll, in milliseconds. */
export const overlap = taking(text => {
  const [, count, unit] = /^(\d{1,3})([hd])$/.exec(text) ?? [];
  const ms = Number(count ?? Number.NaN) * (unit === 'd' ? 24 * hourMs : hourMs);
  return ms <= maxOverlapMs ? ms : undefined;
}, 'a time of at most 7 days, such as 0h, 24h or 7d');

export function keyScopes(text: string, before: Scope[] = []): Scope[] {
  const scope = scopes.find(known => known === text) ?? refuse('read or pay');
  return [...new Set([...before, scope])];
}

export const endpoint = taking(
  text => parseId('whe', text),
  `an endpoint such as whe_01kvbm4vz8fnv8nyh3g1t2s9qa: see ${programName} webhook list`,
);
