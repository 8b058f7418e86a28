import { describe, expect, test } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import {
  createFirstAdmin,
  disableOperator,
  findEnrolment,
  findOperator,
  resetOperator,
  setOperatorRole,
} from '../../src/operators/index.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { enrolOperator } from '../helpers/operators.ts';
import { keyring } from '../helpers/partners.ts';

describe('the last admin', () => {
  test('two admins who remove each other at once: one stays', async () => {
    const { pool } = await createDatabase();
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
      const { rows } = await pool.query(
        "SELECT name FROM operators WHERE role = 'admin' AND disabled_at IS NULL",
      );
      expect(rows).toHaveLength(1);
      // The next round starts without admins.
      await pool.query("UPDATE operators SET role = 'viewer'");
    }
  });

  test('an invited admin does not count as an active one', async () => {
    const { pool } = await createDatabase();
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
  test('gets a new link at each start until the first sign-in', async () => {
    const { pool } = await createDatabase();
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

  test('is not created when there are operators already', async () => {
    const { pool } = await createDatabase();
    await enrolOperator(pool, clock, 'anna', 'viewer');
    expect(await createFirstAdmin(auditContextOf(pool), keyring)).toBeUndefined();
  });
});
