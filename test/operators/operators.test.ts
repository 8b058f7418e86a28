import { test as base, describe, expect } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import {
  createFirstAdmin,
  disableOperator,
  findEnrolment,
  findOperator,
  resetOperator,
  setOperatorRole,
} from '../../src/operators/index.ts';
import { hashPassword, passwordObjection, verifyPassword } from '../../src/operators/password.ts';
import { codeOf, stepAt, stepOf, toBase32, totpUrl } from '../../src/operators/totp.ts';
import { auditContextOf, createDatabase, keyring } from '../helpers/database.ts';
import { enrolOperator } from '../helpers/operators.ts';

const test = base.extend('database', () => createDatabase());

describe('the last admin', () => {
  test('two admins who remove each other at once: one stays', async ({ database: { pool, sql } }) => {
    const audit = auditContextOf(pool);
    for (let round = 0; round < 5; round++) {
      const [one, other] = [
        await enrolOperator(pool, clock, `one-${round}`, 'admin'),
        await enrolOperator(pool, clock, `other-${round}`, 'admin'),
      ];
      const outcomes = await Promise.all([
        disableOperator(audit, one.operatorId),
        round % 2
          ? disableOperator(audit, other.operatorId)
          : setOperatorRole(audit, other.operatorId, 'viewer'),
      ]);
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['done', 'last_admin']);
      expect(await sql`SELECT name FROM operators WHERE role = 'admin' AND disabled_at IS NULL`).toHaveLength(
        1,
      );
      // The next round starts without admins.
      await pool.query("UPDATE operators SET role = 'viewer'");
    }
  });

  test('an invited admin does not count as an active one', async ({ database: { pool } }) => {
    const audit = auditContextOf(pool);
    const { operatorId } = await enrolOperator(pool, clock, 'only', 'admin');
    await createFirstAdmin(audit, keyring);
    expect(await disableOperator(audit, operatorId)).toEqual({ outcome: 'last_admin' });
    expect(await resetOperator(audit, keyring, operatorId, { allowLastAdmin: false })).toEqual({
      outcome: 'last_admin',
    });
    expect(await findOperator(pool, 'only')).toMatchObject({ state: 'active', role: 'admin' });
  });
});

describe('the first admin', () => {
  test('gets a new link at each start until the first sign-in', async ({ database: { pool } }) => {
    const audit = auditContextOf(pool);
    const deps = { pool, clock, keyring };
    const first = (await createFirstAdmin(audit, keyring))!;
    expect(first.operator).toMatchObject({ name: 'admin', role: 'admin', state: 'invited' });
    const second = (await createFirstAdmin(audit, keyring))!;
    expect(await findEnrolment(deps, first.token)).toBeUndefined();
    expect(await findEnrolment(deps, second.token)).toMatchObject({ name: 'admin' });
    await pool.query("UPDATE operators SET password_hash = 'x', totp_last_step = 1");
    expect(await createFirstAdmin(audit, keyring)).toBeUndefined();
    // Also after a reset, while the admin has an unused link again.
    await resetOperator(audit, keyring, second.operator.operatorId, { allowLastAdmin: true });
    expect(await createFirstAdmin(audit, keyring)).toBeUndefined();
  });

  test('is not created when there are operators already', async ({ database: { pool } }) => {
    await enrolOperator(pool, clock, 'anna', 'viewer');
    expect(await createFirstAdmin(auditContextOf(pool), keyring)).toBeUndefined();
  });
});

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
