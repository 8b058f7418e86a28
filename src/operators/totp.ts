import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * TOTP, the one-time codes of authenticator applications: RFC 6238 with the parameters that all of them support (SHA-1,
 * 30 s, six digits). Written by hand: with `node:crypto` it is 45 lines, less than the review of a dependency.
 */
const stepSec = 30;
const digits = 6;
const secretBytes = 20;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export const newTotpSecret = () => randomBytes(secretBytes);

export const stepAt = (ms: number) => Math.floor(ms / 1000 / stepSec);

export function codeOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const at = mac[mac.length - 1]! & 0xf;
  const number = mac.readUInt32BE(at) & 0x7fffffff;
  return `${number % 10 ** digits}`.padStart(digits, '0');
}

/** The time step of a code: the current one or, since clocks differ and typing takes time, the one before or after. */
export function stepOf(secret: Buffer, code: string, nowMs: number): number | undefined {
  const sent = Buffer.from(code.padEnd(digits).slice(0, digits + 1));
  const now = stepAt(nowMs);
  let found: number | undefined;
  for (const step of [now - 1, now, now + 1]) {
    const expected = Buffer.from(codeOf(secret, step));
    if (sent.length === expected.length && timingSafeEqual(sent, expected)) found = step;
  }
  return found;
}

/** RFC 4648 base32, for typing the secret into an application without a camera. */
export function toBase32(bytes: Buffer): string {
  let text = '';
  for (let bit = 0; bit < bytes.length * 8; bit += 5) {
    const pair = (bytes[bit >> 3]! << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    text += alphabet[(pair >> (11 - (bit & 7))) & 31];
  }
  return text;
}

export const totpUrl = (secret: Buffer, name: string) =>
  `otpauth://totp/Kopeck:${encodeURIComponent(name)}?secret=${toBase32(secret)}&issuer=Kopeck`;
