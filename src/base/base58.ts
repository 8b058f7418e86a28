import { createHash } from 'node:crypto';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const checksumBytes = 4;

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const checksumOf = (payload: Uint8Array) => sha256(sha256(payload)).subarray(0, checksumBytes);

function encodeBase58(bytes: Uint8Array): string {
  let value = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (; value > 0n; value /= 58n) text = alphabet[Number(value % 58n)] + text;
  const zeros = bytes.findIndex(byte => byte !== 0);
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + text;
}

function decodeBase58(text: string): Buffer | undefined {
  let value = 0n;
  for (const character of text) {
    const digit = alphabet.indexOf(character);
    if (digit < 0) return undefined;
    value = value * 58n + BigInt(digit);
  }
  const hex = value === 0n ? '' : value.toString(16);
  const zeros = [...text].findIndex(character => character !== '1');
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.alloc(zeros < 0 ? text.length : zeros), bytes]);
}

/** Base58Check: the form of TRON addresses and of extended keys. */
export const encodeBase58Check = (payload: Uint8Array) =>
  encodeBase58(Buffer.concat([payload, checksumOf(payload)]));

/** Undefined for anything whose checksum is wrong. */
export function decodeBase58Check(text: string): Buffer | undefined {
  if (text.length > 120) return undefined;
  const bytes = decodeBase58(text);
  if (!bytes || bytes.length <= checksumBytes) return undefined;
  const payload = bytes.subarray(0, -checksumBytes);
  return checksumOf(payload).equals(bytes.subarray(-checksumBytes)) ? payload : undefined;
}
