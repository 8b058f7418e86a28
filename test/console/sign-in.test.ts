import { test as base, describe, expect, vi } from 'vitest';
import { disableOperator, resetOperator, signIn as tryToSignIn } from '../../src/operators/index.ts';
import { answers, refusal } from '../helpers/console.ts';
import { keyring } from '../helpers/partners.ts';
import { startSignIn } from './sign-in-world.ts';

const minuteMs = 60_000;
const { pool, sql, clock, audit, visit, newName, enrolled, from, login, wait, auditOf } = await startSignIn();
const test = base.extend('operator', () => enrolled());

describe('signing in', () => {
  test('needs name, password and code; the name in any case, the code with or without a space', async () => {
    const { name, password, code } = await enrolled();
    wait();
    const page = visit();
    const gap = code().replace(/^.../, '$& ');
    const body = { name: ` ${name.toUpperCase()} `, password, code: gap };
    const answer = await page.post('/login', body, from('203.0.113.9'));
    expect(answer).toMatchObject({ status: 200, json: { operator: { name } } });
    expect((await page.get('/session')).json.csrf_token).toBe(answer.json.csrf_token);
    expect(await auditOf(name)).toContainEqual({
      actor: `operator:${name}`,
      action: 'session.sign_in',
      after: { session_id: expect.stringMatching(/^ses_/), address: '203.0.113.9' },
    });
  });

  test('answers the same whichever of the three was wrong', async () => {
    const { name, password, code } = await enrolled();
    wait();
    const given = [];
    const names = [{ name: 'nobody-at-all' }, { name: 'no name, surely' }];
    for (const wrong of [...names, { password: 'x' }, { code: '000000' }, { code: 'абв' }])
      given.push(await visit().post('/login', { name, password, code: code(), ...wrong }, from()));
    for (const { status, json } of given) {
      expect(status).toBe(401);
      expect({ ...json.error, request_id: '' }).toEqual({ ...given[0]!.json.error, request_id: '' });
    }
  });

  test('accepts a code once, also concurrently, and no earlier code', async ({ operator: one }) => {
    wait(2);
    const [earlier, now] = [one.code(-1), one.code()];
    const both = await Promise.all([login(one, now), login(one, now)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    for (const used of [now, earlier]) await answers(401, login(one, used));
    await answers(200, login(one, one.code(1)));
  });

  test('is refused to a disabled or reset operator', async () => {
    const [one, other] = [await enrolled(), await enrolled()];
    wait();
    await disableOperator(audit, one.operatorId);
    await resetOperator(audit, keyring, other.operatorId, { allowLastAdmin: false });
    for (const operator of [one, other]) await answers(401, login(operator, operator.code()));
  });

  test('from another origin is refused', async ({ operator: { name, password, code } }) => {
    wait();
    const body = { name, password, code: code() };
    await answers('403 csrf', visit().post('/login', body, { origin: 'https://evil.example' }));
  });
});

describe('throttling', () => {
  const wrong = (name: string, address: string) => login({ name, password: 'x' }, '000000', address);

  test('refuses after five failures by name and address, even the right password, for 15 minutes', async () => {
    const operator = await enrolled();
    const { name, code } = operator;
    wait();
    const address = '203.0.113.50';
    // Concurrent attempts count like sequential ones.
    const given = await Promise.all(Array.from({ length: 9 }, () => wrong(name, address)));
    expect(given.map(({ status }) => status).sort()).toEqual([...Array(5).fill(401), ...Array(4).fill(429)]);
    const right = await login(operator, code(), address);
    expect(right).toMatchObject(refusal(429, 'throttled'));
    expect(right.headers.get('retry-after')).toBe('900');
    expect(await auditOf(name)).toContainEqual({
      actor: 'console',
      action: 'session.throttled',
      after: { address, limits: ['nameAndAddress'] },
    });
    expect((await auditOf(name)).filter(line => JSON.stringify(line).includes('throttled'))).toHaveLength(1);

    await answers(200, login(operator, code(), '203.0.113.51'));
    clock.advance(15 * minuteMs);
    await answers(200, login(operator, code(), address));
  });

  test('a wrong code counts like a wrong password, and a success resets the count', async ({ operator }) => {
    const address = '203.0.113.60';
    for (let round = 0; round < 2; round++) {
      wait();
      for (let tries = 0; tries < 4; tries++) await answers(401, login(operator, 'nocode', address));
      await answers(200, login(operator, operator.code(), address));
    }
  });

  test('counts an IPv6 /64 network as one address', async ({ operator: { name } }) => {
    const ends = [':1', ':2', 'a:b:c:d', '3::'];
    for (const address of [...ends.map(end => `2001:db8:1:2:${end}`), '2001:0db8:0001:2::5'])
      await answers(401, wrong(name, address));
    await answers(429, wrong(name, '2001:db8:1:2::6'));
    await answers(401, wrong(name, '2001:db8:1:3::1'));
  });

  test('concurrent attempts use one database connection: payments need the others', async () => {
    const holder = await pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT pg_advisory_xact_lock(718000013)');
      const credentials = { name: newName(), password: 'x', code: '000000' };
      const tries = Array.from({ length: 30 }, (_, index) =>
        tryToSignIn({ pool, clock, keyring }, credentials, { address: `10.3.${index}.1`, userAgent: '' }),
      );
      const waiting = () =>
        holder
          .query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
          .then(r => r.rowCount);
      await expect.poll(waiting).toBeGreaterThan(0);
      expect(await waiting()).toBe(1);
      expect(pool.waitingCount).toBe(0);
      await holder.query('COMMIT');
      expect((await Promise.all(tries)).map(({ outcome }) => outcome)).toEqual(Array(30).fill('refused'));
    } finally {
      holder.release();
    }
  });

  test('an address has twenty attempts with any names; throttled ones do not reach the database', async () => {
    const address = '203.0.113.90';
    await sql`INSERT INTO login_attempts (at, name_hash, address)
       SELECT ${new Date(clock.nowMs())}, sha256(n::text::bytea), ${address} FROM generate_series(1, 19) AS n`;
    await answers(401, wrong('flood', address));
    await answers(429, wrong('flood', address));
    const connect = vi.spyOn(pool, 'connect');
    const given = await Promise.all([1, 2, 3].map(nth => wrong(`more-${nth}`, address)));
    expect(given.map(({ status }) => status)).toEqual([429, 429, 429]);
    expect(given[0]!.headers.get('retry-after')).toBe('900');
    expect(connect).not.toHaveBeenCalled();
  });

  test('an unknown name is never stored, as it may be a password', async () => {
    const typed = 'hunter2-and-more';
    for (let tries = 0; tries < 5; tries++) await wrong(typed, '203.0.113.80');
    const rows =
      await sql`SELECT a::text AS line FROM audit a UNION ALL SELECT l::text FROM login_attempts l`;
    expect(rows.map(({ line }) => line).join('\n')).not.toContain('hunter2');
    expect(await auditOf('unknown')).not.toEqual([]);
  });
});
