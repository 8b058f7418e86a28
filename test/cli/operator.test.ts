import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { findEnrolment } from '../../src/operators/index.ts';
import { openSession } from '../../src/operators/sessions.ts';
import { kopeck } from '../helpers/cli.ts';
import { createDatabase, keyring, secretKey } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { enrolOperator } from '../helpers/operators.ts';
import { commandLineOf } from './command-line.ts';

const { pool, url } = await createDatabase();
const env = { DATABASE_URL: url, DATA_DIR: newFolder(), SECRET_KEY: secretKey };
const { run, runJson, expectRefusal } = commandLineOf(env, 'operator');
const deps = { pool, clock: systemClock, keyring };
const tokenOf = (setupUrl: string) => setupUrl.split('#')[1]!;

describe('kopeck operator', () => {
  test('create shows a link that works once', async () => {
    const { stdout } = await run('create --name Anna --role support');
    const link = /^link +(http:\/\/127\.0\.0\.1:8080\/console\/setup#[\w-]{43})$/m.exec(stdout)?.[1];
    expect(await findEnrolment(deps, tokenOf(link!))).toMatchObject({ name: 'anna', role: 'support' });
    await expectRefusal(1, /^Operator anna already exists/, 'create --name anna --role viewer');
    const behindProxy = { ...env, PUBLIC_URL: 'https://pay.example/' };
    const elsewhere = await kopeck(behindProxy, 'operator reset anna --json');
    const { setup_url } = JSON.parse(elsewhere.stdout);
    expect(setup_url).toMatch(/^https:\/\/pay\.example\/console\/setup#/);
    expect(await findEnrolment(deps, tokenOf(link!))).toBeUndefined();
    expect(await findEnrolment(deps, tokenOf(setup_url))).toBeDefined();
  });

  test.each([
    [['create', '--name', 'a b', '--role', 'viewer'], /name/],
    [['create', '--name', 'opr_1', '--role', 'viewer'], /name/],
    [['create', '--name', 'petr', '--role', 'king'], /role/],
    [['create', '--name', 'petr'], /--role/],
    [['role', 'petr'], /--role/],
  ])('%j is a wrong call', async (args, message) => {
    expect(await run(...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  });

  test('disable, enable, role and sign-out act on open sessions', async () => {
    const { operatorId } = await enrolOperator(pool, systemClock, 'boris', 'viewer');
    await enrolOperator(pool, systemClock, 'root', 'admin');
    const sessions = `SELECT FROM operator_sessions s JOIN operators o ON o.id = s.operator_id
                       WHERE o.name = 'boris' AND ended_at IS NULL`;
    const open = async () => (await pool.query(sessions)).rowCount;
    expect(await open()).toBe(1);
    expect(await runJson('sign-out boris')).toMatchObject({ name: 'boris', state: 'active' });
    expect(await open()).toBe(0);
    await openSession(pool, systemClock, operatorId, { address: '::1', userAgent: '' });
    expect(await runJson('disable BORIS')).toMatchObject({ name: 'boris', state: 'disabled' });
    expect(await open()).toBe(0);
    await expectRefusal(1, /^boris is disabled/, 'reset boris');
    expect((await run('enable boris')).stdout).toBe('boris is enabled.\n');
    expect(await runJson('role boris --role finance')).toMatchObject({ role: 'finance' });
    expect(await runJson('list')).toMatchObject({
      operators: [
        { name: 'anna', state: 'invited' },
        { name: 'boris', state: 'active', role: 'finance' },
        { name: 'root' },
      ],
    });
    expect((await run('list')).stdout).toMatch(/^boris +finance +active/m);
    const { rows } = await pool.query("SELECT actor, action FROM audit WHERE subject = 'boris' ORDER BY id");
    expect(rows.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['session.revoke', 'operator.disable', 'operator.enable', 'operator.role']),
    );
    expect(rows.at(-1).actor).toMatch(/^cli:/);
  });

  test('the last active admin cannot be disabled, but can get a new link here', async () => {
    await expectRefusal(1, /^root is the last active admin/, 'disable root');
    await expectRefusal(1, /^root is the last active admin/, 'role root --role viewer');
    await expectRefusal(1, /^There is no operator nobody/, 'disable nobody');
    const reset = { name: 'root', state: 'invited', setup_url: expect.any(String) };
    expect(await runJson('reset root')).toMatchObject(reset);
  });
});
