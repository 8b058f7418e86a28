import { describe, expect, test } from 'vitest';
import { hashPassword, passwordObjection, verifyPassword } from '../../src/operators/password.ts';

describe('the password', () => {
  test('is stored as argon2id with the OWASP parameters and a new salt each time', async () => {
    const [one, other] = await Promise.all([
      hashPassword('violet cargo 81'),
      hashPassword('violet cargo 81'),
    ]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(other);
    expect(await verifyPassword('violet cargo 81', one)).toBe(true);
    expect(await verifyPassword('violet cargo 82', one)).toBe(false);
  });

  test('is the same however its characters are composed', async () => {
    expect(await verifyPassword('йо\u0438\u0306 ключ дверь', await hashPassword('йо\u0439 ключ дверь'))).toBe(
      true,
    );
  });

  test('of an unknown operator is never correct', async () => {
    expect(await verifyPassword('', null)).toBe(false);
  });

  test.each(['short 1', 'elevenchars'])('%j is too short', password => {
    expect(passwordObjection(password, 'anna')).toMatch(/at least 12/);
  });

  test.each([
    'anna.petrova',
    'anna.petrova2026',
    'ANNA.PETROVA!!',
    'passwordpassword',
    'Password123456!',
    'qwertyuiopas',
    'йцукенгшщзхъ',
    'aaaaaaaaaaaaaaaa',
    'abababababab',
    '123456789012',
    'abcdefghijklm',
    '987654321zyxwv',
    'kopeck-admin-2026',
  ])('%j is too easy', password => {
    expect(passwordObjection(password, 'anna.petrova')).toMatch(/too easy/);
  });

  test.each(['violet cargo 81', 'Tr0ubadour&3-lamps', 'ключ дверь лампа', 'k7#Vq!x9Zp2m'])(
    '%j is accepted',
    password => {
      expect(passwordObjection(password, 'anna.petrova')).toBeUndefined();
    },
  );
});
