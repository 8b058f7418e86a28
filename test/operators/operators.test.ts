import { describe, expect, test } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import {
  disableOperator,
  findEnrolment,
  findOperator,
  inviteFirstAdmin,
  resetOperator,
  setOperatorRole,
} from '../../src/operators/index.ts';
import { secretKey } from '../helpers/customers.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { enrolOperator } from '../helpers/operators.ts';

describe('the last admin', () => {
  test('of two who remove each other at once one stays', async () => {
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
      // Out of the way of the next round.
      await pool.query("UPDATE operators SET role = 'viewer'");
    }
  });

  test('is not one who is only invited', async () => {
    const { pool } = await createDatabase();
    const audit = auditContextOf(pool);
    const { operatorId } = await enrolOperator(pool, clock, 'only', 'admin');
    await inviteFirstAdmin(audit, secretKey);
    expect(await disableOperator(audit, operatorId)).toEqual({ outcome: 'last_admin' });
    expect(await resetOperator(audit, secretKey, operatorId, { evenLastAdmin: false })).toEqual({
      outcome: 'last_admin',
    });
    expect(await findOperator(pool, 'only')).toMatchObject({ state: 'active', role: 'admin' });
  });
});

describe('the first admin', () => {
  test('gets a fresh link at each start until somebody has been here', async () => {
    const { pool } = await createDatabase();
    const audit = auditContextOf(pool);
    const door = { pool, clock, secretKey };
    const first = (await inviteFirstAdmin(audit, secretKey))!;
    expect(first.operator).toMatchObject({ name: 'admin', role: 'admin', state: 'invited' });
    const second = (await inviteFirstAdmin(audit, secretKey))!;
    expect(await findEnrolment(door, first.token)).toBeUndefined();
    expect(await findEnrolment(door, second.token)).toMatchObject({ name: 'admin' });
    await pool.query("UPDATE operators SET password_hash = 'x', totp_last_step = 1");
    expect(await inviteFirstAdmin(audit, secretKey)).toBeUndefined();
    // Also while they wait with a link that somebody else has made them.
    await resetOperator(audit, secretKey, second.operator.operatorId, { evenLastAdmin: true });
    expect(await inviteFirstAdmin(audit, secretKey)).toBeUndefined();
  });

  test('is not made where people have made operators themselves', async () => {
    const { pool } = await createDatabase();
    await enrolOperator(pool, clock, 'anna', 'viewer');
    expect(await inviteFirstAdmin(auditContextOf(pool), secretKey)).toBeUndefined();
  });
});
