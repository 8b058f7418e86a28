import { describe, expect, test } from 'vitest';
import { hashPassword, isPassword, objectionToPassword } from '../../src/operators/password.ts';

describe('the password', () => {
  test('is kept as argon2id with what OWASP recommends, differently each time', async () => {
    const [one, other] = await Promise.all([
      hashPassword('violet cargo 81'),
      hashPassword('violet cargo 81'),
    ]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(other);
    expect(await isPassword('violet cargo 81', one)).toBe(true);
    expect(await isPassword('violet cargo 82', one)).toBe(false);
  });

  test('is the same however its characters are composed', async () => {
    expect(await isPassword('йо\u0438\u0306 ключ дверь', await hashPassword('йо\u0439 ключ дверь'))).toBe(
      true,
    );
  });

  test('of nobody is never right', async () => {
    expect(await isPassword('', null)).toBe(false);
  });

  test.each(['short 1', 'elevenchars'])('%j is too short', password => {
    expect(objectionToPassword(password, 'anna')).toMatch(/at least 12/);
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
    expect(objectionToPassword(password, 'anna.petrova')).toMatch(/too easy/);
  });

  test.each(['violet cargo 81', 'Tr0ubadour&3-lamps', 'ключ дверь лампа', 'k7#Vq!x9Zp2m'])(
    '%j will do',
    password => {
      expect(objectionToPassword(password, 'anna.petrova')).toBeUndefined();
    },
  );
});
