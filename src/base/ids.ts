import { randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';

/**
 * Identifiers as partners see them: a prefix that names the kind, and a UUIDv7 in base32, as TypeID writes it
 * (26 characters, sortable by time of creation). The database stores the UUID.
 */
export type IdKind = 'pay' | 'prt' | 'whd' | 'req';
export type Id<Kind extends IdKind> = `${Kind}_${string}`;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const suffixLength = 26;
const digitValues = new Map(Array.from(alphabet, (character, value) => [character, BigInt(value)]));

let lastMs = 0;
let sequence = 0;

/** 48 bits of milliseconds, 12 of a counter that keeps ids of one process in order, 62 random ones. */
function uuidV7(clock: Clock): bigint {
  const nowMs = Math.max(clock.nowMs(), lastMs);
  sequence = nowMs === lastMs ? sequence + 1 : 0;
  lastMs = sequence > 0xfff ? nowMs + 1 : nowMs;
  sequence &= 0xfff;
  const random = randomFillSync(Buffer.allocUnsafe(8)).readBigUInt64BE() >> 2n;
  return (BigInt(lastMs) << 80n) | (0x7n << 76n) | (BigInt(sequence) << 64n) | (0b10n << 62n) | random;
}

function toBase32(value: bigint): string {
  let text = '';
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += alphabet[Number((value >> shift) & 31n)];
  return text;
}

export const newId = <Kind extends IdKind>(kind: Kind, clock: Clock): Id<Kind> =>
  `${kind}_${toBase32(uuidV7(clock))}`;

export function idFromUuid<Kind extends IdKind>(kind: Kind, uuid: string): Id<Kind> {
  return `${kind}_${toBase32(BigInt(`0x${uuid.replaceAll('-', '')}`))}`;
}

/** Reads what somebody typed or sent; anything that this service could not have issued is undefined. */
export function parseId<Kind extends IdKind>(kind: Kind, text: string): Id<Kind> | undefined {
  const suffix = text.slice(kind.length + 1);
  const wellFormed = text.startsWith(`${kind}_`) && suffix.length === suffixLength && suffix[0]! <= '7';
  if (!wellFormed || ![...suffix].every(character => digitValues.has(character))) return undefined;
  return text as Id<Kind>;
}

export function uuidFromId(id: Id<IdKind>): string {
  let value = 0n;
  for (const character of id.slice(id.indexOf('_') + 1)) value = (value << 5n) | digitValues.get(character)!;
  const hex = value.toString(16).padStart(32, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
