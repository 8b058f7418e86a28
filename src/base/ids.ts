import type { Clock } from './clock.ts';
import { createRandomFill } from './random-fill.ts';

/**
 * Identifiers as partners see them: a prefix that names the kind, and a UUIDv7 in base32, as TypeID writes it
 * (26 characters, sortable by time of creation). The database stores the UUID.
 */
export type IdKind = 'pay' | 'prt' | 'whd' | 'req' | 'opr' | 'ses' | 'apr' | 'dep' | 'whe' | 'wsk' | 'qte';
export type Id<Kind extends IdKind> = `${Kind}_${string}`;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const suffixLength = 26;
const wellFormed = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

const fillRandom = createRandomFill(8);

/** Per clock: the millisecond of its newest id, and how many ids have that millisecond. */
const moments = new WeakMap<Clock, { ms: number; sequence: number }>();

/** Always after the previous one, even when the clock stands still or goes back. */
function nextMoment(clock: Clock): { ms: number; sequence: number } {
  const moment = moments.get(clock) ?? { ms: 0, sequence: 0 };
  moments.set(clock, moment);
  const nowMs = clock.nowMs();
  if (nowMs > moment.ms) {
    moment.ms = nowMs;
    moment.sequence = 0;
  } else if (++moment.sequence > 0xfff) {
    moment.ms++;
    moment.sequence = 0;
  }
  return moment;
}

/** 48 bits of milliseconds, a 12-bit counter that keeps the ids of one clock in order, 62 random bits. */
function uuidV7(clock: Clock): Buffer {
  const { ms, sequence } = nextMoment(clock);
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(ms, 0, 6);
  bytes.writeUInt16BE(0x7000 | sequence, 6);
  fillRandom(bytes, 8);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return bytes;
}

/** Five bits per character, from the left. The first carries only three: 26 characters hold 130 bits. */
function toBase32(bytes: Buffer): string {
  let text = '';
  for (let bit = -2; bit < 128; bit += 5) {
    const first = bit >> 3;
    const pair = ((bytes[first] ?? 0) << 8) | (bytes[first + 1] ?? 0);
    text += alphabet[(pair >> (11 - (bit & 7))) & 31];
  }
  return text;
}

export const newId = <Kind extends IdKind>(kind: Kind, clock: Clock): Id<Kind> =>
  `${kind}_${toBase32(uuidV7(clock))}`;

export const idFromUuid = <Kind extends IdKind>(kind: Kind, uuid: string): Id<Kind> =>
  `${kind}_${toBase32(Buffer.from(uuid.replaceAll('-', ''), 'hex'))}`;

/** No id has a smaller or a greater UUID. */
export const minUuid = '00000000-0000-0000-0000-000000000000';
export const maxUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Parses untrusted text; undefined for anything that this service cannot have issued. */
export function parseId<Kind extends IdKind>(kind: Kind, text: string): Id<Kind> | undefined {
  const fits = text.length === kind.length + 1 + suffixLength && text.startsWith(`${kind}_`);
  return fits && wellFormed.test(text.slice(kind.length + 1)) ? (text as Id<Kind>) : undefined;
}

const characterValue = new Uint8Array(128);
for (const [value, character] of [...alphabet].entries()) characterValue[character.charCodeAt(0)] = value;
const hexDigits = Buffer.from('0123456789abcdef');
/** The one that was made last: its hyphens stay. */
const uuidText = Buffer.from(minUuid);

/** Written into one buffer, which takes half of the time of putting texts together: a payment needs some twenty of these. */
export function uuidFromId(id: Id<IdKind>): string {
  let value = 0;
  let bits = -2;
  let end = 0;
  for (let at = id.length - suffixLength; at < id.length; at++) {
    value = ((value << 5) | characterValue[id.charCodeAt(at)]!) & 0x1ff;
    for (bits += 5; bits >= 4; end++) {
      bits -= 4;
      if (end === 8 || end === 13 || end === 18 || end === 23) end++;
      uuidText[end] = hexDigits[(value >> bits) & 0xf]!;
    }
  }
  return uuidText.toString('latin1');
}

/** Milliseconds since the epoch, by the clock of the process that made the id. */
export const timeOfId = (id: Id<IdKind>) => timeOfUuid(uuidFromId(id));
export const timeOfUuid = (uuid: string) => Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);

/** The lower bound for range queries: no id made at that time or later has a smaller UUID. */
export function minUuidAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
