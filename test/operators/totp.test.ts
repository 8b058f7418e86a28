import { expect, test } from 'vitest';
import { codeOf, stepAt, stepOf, toBase32, totpUrl } from '../../src/operators/totp.ts';

/** RFC 6238, appendix B, SHA-1: the last six of the eight digits. */
const secret = Buffer.from('12345678901234567890');

test.each([
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
])('at %i s the code is %s', (sec, code) => {
  expect(codeOf(secret, stepAt(sec * 1000))).toBe(code);
});

test('a code is valid in its own step and one step before and after', () => {
  const step = 37_037_036;
  const code = codeOf(secret, step);
  const at = (steps: number) => stepOf(secret, code, (step + steps) * 30_000 + 12_345);
  expect([-2, -1, 0, 1, 2].map(at)).toEqual([undefined, step, step, step, undefined]);
});

test.each(['', '00592', '0059240', '005924 ', 'абвгде', '00592\u0664'])('%j is no code', code => {
  expect(stepOf(secret, code, 1234567890_000)).toBeUndefined();
});

test('the secret is given to applications as base32 and as an otpauth URL', () => {
  expect(toBase32(Buffer.from('foobar'))).toBe('MZXW6YTBOI');
  expect(toBase32(secret)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  expect(totpUrl(secret, 'a.b')).toBe(
    'otpauth://totp/Kopeck:a.b?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Kopeck',
  );
});
