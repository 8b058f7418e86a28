import { codeOf, stepAt } from '../../src/operators/totp.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code that an authenticator shows for this secret. */
export function codeOfText(secret: string, nowMs: number): string {
  const bits = [...secret].map(letter => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const bytes = bits.match(/.{8}/g)!.map(byte => Number.parseInt(byte, 2));
  return codeOf(Buffer.from(bytes), stepAt(nowMs));
}
