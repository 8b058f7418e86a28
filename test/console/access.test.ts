import { describe, expect, test, vi } from 'vitest';
import {
  createOperator,
  disableOperator,
  resetOperator,
  setOperatorRole,
  signIn as tryToSignIn,
} from '../../src/operators/index.ts';
import { codeOf, stepAt } from '../../src/operators/totp.ts';
import { manualClock } from '../helpers/clock.ts';
import { startConsole } from '../helpers/console.ts';
import { secretKey } from '../helpers/customers.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { enrolOperator, goodPassword } from '../helpers/operators.ts';

const minuteMs = 60_000;
const { pool } = await createDatabase();
const clock = manualClock();
const { signIn, visit } = await startConsole({ pool, clock, trustProxy: ['127.0.0.1'] });
const audit = auditContextOf(pool, clock);

let people = 0;
const newName = () => `person-${++people}`;
const enrolled = (role: 'viewer' | 'admin' = 'viewer') => enrolOperator(pool, clock, newName(), role);
/** Each from an address of their own, unless a test is about addresses. */
const from = (address = `198.51.100.${++people}`) => ({ 'x-forwarded-for': address });
const refusal = (status: number, code: string) => ({ status, json: { error: { code } } });
/** To the next code. */
const wait = (steps = 1) => clock.advance(steps * 30_000);

async function auditOf(subject: string): Promise<object[]> {
  const { rows } = await pool.query('SELECT actor, action, after FROM audit WHERE subject = $1 ORDER BY id', [
    subject,
  ]);
  return rows;
}

describe('the link', () => {
  const invite = async (name: string) => {
    const creation = await createOperator(audit, secretKey, { name, role: 'support' });
    if (creation.outcome !== 'created') throw new Error(creation.outcome);
    return creation;
  };
  const codeFor = (base32: string) => {
    const bits = [...base32].map(letter =>
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
    );
    const bytes = bits
      .join('')
      .match(/.{8}/g)!
      .map(byte => Number.parseInt(byte, 2));
    return codeOf(Buffer.from(bytes), stepAt(clock.nowMs()));
  };

  test('lets one person in, once, with a password and a code of their own', async () => {
    const name = newName();
    const { token } = await invite(name);
    const page = visit();
    const look = await page.post('/setup/look', { token });
    expect(look).toMatchObject({ status: 200, json: { name, role: 'support' } });
    expect(look.json.totp_url).toContain(look.json.totp_secret);
    expect(look.json.totp_svg).toMatch(/^<svg /);

    const code = codeFor(look.json.totp_secret);
    expect(await page.post('/setup', { token, password: `${name}${name}`, code })).toMatchObject(
      refusal(400, 'weak_password'),
    );
    expect(await page.post('/setup', { token, password: goodPassword, code: '12345' })).toMatchObject(
      refusal(400, 'wrong_code'),
    );
    const set = await page.post('/setup', { token, password: goodPassword, code });
    expect(set).toMatchObject({ status: 200, json: { operator: { name, role: 'support' } } });
    expect(set.headers.get('set-cookie')).toMatch(
      /^__Host-kopeck=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect((await page.get('/session')).status).toBe(200);

    for (const path of ['/setup/look', '/setup'])
      expect(
        await visit().post(path, { token, ...(path === '/setup' ? { password: goodPassword, code } : {}) }),
      ).toMatchObject(refusal(404, 'no_link'));
    expect(await auditOf(name)).toMatchObject([
      { action: 'operator.create' },
      { action: 'operator.enrol' },
      { action: 'session.sign_in' },
    ]);
    // The code that showed that the application works is used up, too.
    expect(await visit().post('/login', { name, password: goodPassword, code }, from())).toMatchObject(
      refusal(401, 'wrong_credentials'),
    );
  });

  test('used twice at once lets one in', async () => {
    const { token } = await invite(newName());
    const { json } = await visit().post('/setup/look', { token });
    const body = { token, password: goodPassword, code: codeFor(json.totp_secret) };
    const answers = await Promise.all([visit().post('/setup', body), visit().post('/setup', body)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  test('is dead after a day, after a reset and when the operator is disabled', async () => {
    const first = await invite(newName());
    const { operatorId } = first.operator;
    const second = await resetOperator(audit, secretKey, operatorId, { evenLastAdmin: false });
    if (second.outcome !== 'reset') throw new Error(second.outcome);
    expect((await visit().post('/setup/look', { token: first.token })).status).toBe(404);
    expect((await visit().post('/setup/look', { token: second.token })).status).toBe(200);
    clock.advance(24 * 60 * minuteMs);
    expect((await visit().post('/setup/look', { token: second.token })).status).toBe(404);

    const other = await invite(newName());
    await disableOperator(audit, other.operator.operatorId);
    expect((await visit().post('/setup/look', { token: other.token })).status).toBe(404);
  });

  test('is not in the database, nor is any secret', async () => {
    const name = newName();
    const { token } = await invite(name);
    const { json } = await visit().post('/setup/look', { token });
    const page = visit();
    await page.post('/setup', { token, password: goodPassword, code: codeFor(json.totp_secret) });
    const session = page.cookie!.split('=')[1]!;
    const { rows } = await pool.query(
      'SELECT o::text AS line FROM operators o UNION ALL SELECT s::text FROM operator_sessions s UNION ALL SELECT a::text FROM audit a',
    );
    const everything = rows.map(({ line }) => line).join('\n');
    for (const secret of [token, json.totp_secret, goodPassword, session]) {
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(Buffer.from(secret).toString('hex'));
    }
    // Whoever reads the hash of a token cannot come in with it.
    const { rows: hashes } = await pool.query(
      "SELECT encode(token_hash, 'hex') AS hex, token_hash AS bytes FROM operator_sessions",
    );
    for (const { hex, bytes } of hashes)
      for (const stolen of [hex, bytes.toString('base64url')]) {
        const thief = visit();
        thief.cookie = `__Host-kopeck=${stolen}`;
        expect((await thief.get('/session')).status).toBe(401);
      }
  });
});

describe('signing in', () => {
  test('by name, password and code; the name in any case, the code with its gap', async () => {
    const { name, password, code } = await enrolled();
    wait();
    const page = visit();
    const gap = code().replace(/^.../, '$& ');
    const answer = await page.post(
      '/login',
      { name: ` ${name.toUpperCase()} `, password, code: gap },
      from('203.0.113.9'),
    );
    expect(answer).toMatchObject({ status: 200, json: { operator: { name } } });
    expect((await page.get('/session')).json.csrf_token).toBe(answer.json.csrf_token);
    expect(await auditOf(name)).toContainEqual({
      actor: `operator:${name}`,
      action: 'session.sign_in',
      after: { session_id: expect.stringMatching(/^ses_/), address: '203.0.113.9' },
    });
  });

  test('never tells which of the three was wrong', async () => {
    const { name, password, code } = await enrolled();
    wait();
    const answers = [];
    for (const wrong of [
      { name: 'nobody-at-all' },
      { name: 'no name, surely' },
      { password: 'x' },
      { code: '000000' },
      { code: 'абв' },
    ])
      answers.push(await visit().post('/login', { name, password, code: code(), ...wrong }, from()));
    for (const { status, json } of answers) {
      expect(status).toBe(401);
      expect({ ...json.error, request_id: '' }).toEqual({ ...answers[0]!.json.error, request_id: '' });
    }
  });

  test('takes a code once, also by two at once, and none from before it', async () => {
    const { name, password, code } = await enrolled();
    wait(2);
    const [earlier, now] = [code(-1), code()];
    const both = await Promise.all(
      [1, 2].map(() => visit().post('/login', { name, password, code: now }, from())),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    for (const used of [now, earlier])
      expect((await visit().post('/login', { name, password, code: used }, from())).status).toBe(401);
    expect((await visit().post('/login', { name, password, code: code(1) }, from())).status).toBe(200);
  });

  test('is not for who was disabled or reset', async () => {
    const one = await enrolled();
    wait();
    await disableOperator(audit, one.operatorId);
    const login = () =>
      visit().post('/login', { name: one.name, password: one.password, code: one.code() }, from());
    expect((await login()).status).toBe(401);
    const other = await enrolled();
    wait();
    await resetOperator(audit, secretKey, other.operatorId, { evenLastAdmin: false });
    expect(
      (
        await visit().post(
          '/login',
          { name: other.name, password: other.password, code: other.code() },
          from(),
        )
      ).status,
    ).toBe(401);
  });

  test('from a page of somebody else is refused', async () => {
    const { name, password, code } = await enrolled();
    wait();
    const body = { name, password, code: code() };
    expect(await visit().post('/login', body, { origin: 'https://evil.example' })).toMatchObject(
      refusal(403, 'csrf'),
    );
  });
});

describe('throttling', () => {
  const wrong = (name: string, address: string) =>
    visit().post('/login', { name, password: 'x', code: '000000' }, from(address));

  test('hears nobody after five failures by name and address, even if right; and again in a quarter of an hour', async () => {
    const { name, password, code } = await enrolled();
    wait();
    const address = '203.0.113.50';
    // All at once: as many as one after the other.
    const answers = await Promise.all(Array.from({ length: 9 }, () => wrong(name, address)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill(401),
      ...Array(4).fill(429),
    ]);
    const right = await visit().post('/login', { name, password, code: code() }, from(address));
    expect(right).toMatchObject(refusal(429, 'throttled'));
    expect(right.headers.get('retry-after')).toBe('900');
    expect(await auditOf(name)).toContainEqual({
      actor: 'console',
      action: 'session.throttled',
      after: { address, limits: ['nameAndAddress'] },
    });
    expect((await auditOf(name)).filter(line => JSON.stringify(line).includes('throttled'))).toHaveLength(1);

    expect(
      (await visit().post('/login', { name, password, code: code() }, from('203.0.113.51'))).status,
    ).toBe(200);
    clock.advance(15 * minuteMs);
    expect((await visit().post('/login', { name, password, code: code() }, from(address))).status).toBe(200);
  });

  test('a wrong code counts like a wrong password, and being right starts anew', async () => {
    const { name, password, code } = await enrolled();
    const address = '203.0.113.60';
    for (let round = 0; round < 2; round++) {
      wait();
      for (let tries = 0; tries < 4; tries++)
        expect((await visit().post('/login', { name, password, code: 'nocode' }, from(address))).status).toBe(
          401,
        );
      expect((await visit().post('/login', { name, password, code: code() }, from(address))).status).toBe(
        200,
      );
    }
  });

  test('counts by address: twenty, whoever they are for', async () => {
    const address = '203.0.113.70';
    for (let tries = 0; tries < 20; tries++)
      expect((await wrong(`guess-${tries}`, address)).status).toBe(401);
    expect((await wrong('guess-21', address)).status).toBe(429);
  });

  test('counts by name: fifty, wherever from', async () => {
    const { name } = await enrolled();
    for (let tries = 0; tries < 50; tries++) expect((await wrong(name, `10.1.${tries}.1`)).status).toBe(401);
    expect((await wrong(name, '10.2.1.1')).status).toBe(429);
  });

  test('takes a network of IPv6 for one address', async () => {
    const { name } = await enrolled();
    for (const address of [
      '2001:db8:1:2::1',
      '2001:db8:1:2::2',
      '2001:db8:1:2:a:b:c:d',
      '2001:db8:1:2:3::',
      '2001:0db8:0001:2::5',
    ])
      expect((await wrong(name, address)).status).toBe(401);
    expect((await wrong(name, '2001:db8:1:2::6')).status).toBe(429);
    expect((await wrong(name, '2001:db8:1:3::1')).status).toBe(401);
  });

  test('those who try take one connection together, however many: payments need the others', async () => {
    const holder = await pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT pg_advisory_xact_lock(718000013)');
      const credentials = { name: newName(), password: 'x', code: '000000' };
      const tries = Array.from({ length: 30 }, (_, index) =>
        tryToSignIn({ pool, clock, secretKey }, credentials, { address: `10.3.${index}.1`, userAgent: '' }),
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

  test('a flood of what is not heard is not even asked about', async () => {
    const address = '203.0.113.90';
    for (let tries = 0; tries < 21; tries++) await wrong(`flood-${tries}`, address);
    const connect = vi.spyOn(pool, 'connect');
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => wrong(`more-${index}`, address)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
    expect(answers[0]!.headers.get('retry-after')).toBe('900');
    expect(connect).not.toHaveBeenCalled();
    connect.mockRestore();
  });

  test('keeps what was typed as a name out of tables and audit, as it may be a password', async () => {
    const typed = 'hunter2-and-more';
    for (let tries = 0; tries < 5; tries++) await wrong(typed, '203.0.113.80');
    const { rows } = await pool.query(
      'SELECT a::text AS line FROM audit a UNION ALL SELECT l::text FROM login_attempts l',
    );
    expect(rows.map(({ line }) => line).join('\n')).not.toContain('hunter2');
    expect(await auditOf('unknown')).not.toEqual([]);
  });
});

describe('a session', () => {
  test('ends after half an hour without a sign of life, but not before', async () => {
    const viewer = await signIn('viewer');
    clock.advance(29 * minuteMs);
    expect((await viewer.get('/session')).status).toBe(200);
    clock.advance(29 * minuteMs);
    expect((await viewer.get('/session')).status).toBe(200);
    clock.advance(30 * minuteMs);
    expect(await viewer.get('/session')).toMatchObject(refusal(401, 'signed_out'));
  });

  test('is not kept alive by what the page asks by itself', async () => {
    const viewer = await signIn('viewer');
    for (let minutes = 0; minutes < 28; minutes += 7) {
      clock.advance(7 * minuteMs);
      expect((await viewer.get('/session', { 'x-background': '1' })).status).toBe(200);
    }
    clock.advance(2 * minuteMs);
    expect((await viewer.get('/session', { 'x-background': '1' })).status).toBe(401);
  });

  test('ends after twelve hours however busy it is', async () => {
    const viewer = await signIn('viewer');
    for (let passed = 0; passed < 12 * 60 - 20; passed += 20) {
      clock.advance(20 * minuteMs);
      expect((await viewer.get('/session')).status).toBe(200);
    }
    clock.advance(20 * minuteMs);
    expect((await viewer.get('/session')).status).toBe(401);
  });

  test('writes signs of life once a minute', async () => {
    const viewer = await signIn('viewer');
    const seen = async () =>
      (
        await pool.query(
          'SELECT s.xmin::text, last_seen_at FROM operator_sessions s JOIN operators o ON o.id = operator_id WHERE name = $1',
          [viewer.name],
        )
      ).rows[0];
    const before = await seen();
    clock.advance(59_000);
    await viewer.get('/session');
    expect(await seen()).toEqual(before);
    clock.advance(1_000);
    await viewer.get('/session');
    expect((await seen()).last_seen_at).toEqual(new Date(clock.nowMs()));
  });

  test('of who is disabled or gets another role changes at once', async () => {
    const admin = await signIn('admin');
    const viewer = await signIn('viewer');
    expect(await viewer.post('/operators', { name: 'x1', role: 'viewer' })).toMatchObject(
      refusal(403, 'forbidden'),
    );
    await setOperatorRole(audit, viewer.operatorId, 'admin');
    expect((await viewer.post('/operators', { name: newName(), role: 'viewer' })).status).toBe(200);
    await setOperatorRole(audit, viewer.operatorId, 'support');
    expect((await viewer.post('/operators', { name: newName(), role: 'viewer' })).status).toBe(403);
    expect((await admin.post(`/operators/${viewer.operatorId}/disable`)).status).toBe(200);
    expect((await viewer.get('/session')).status).toBe(401);
    // Not even after they are back: they sign in anew.
    expect((await admin.post(`/operators/${viewer.operatorId}/enable`)).status).toBe(200);
    expect((await viewer.get('/session')).status).toBe(401);
  });

  test('can be seen and ended by whose it is, and by admins', async () => {
    const admin = await signIn('admin');
    const [one, other] = [await signIn('support'), await signIn('support')];
    const own = (await one.get('/sessions')).json.data;
    expect(own).toMatchObject([{ session_id: one.sessionId, operator: one.name, is_this_one: true }]);
    expect(await one.post(`/sessions/${other.sessionId}/revoke`)).toMatchObject(refusal(404, 'no_session'));
    expect((await other.get('/session')).status).toBe(200);
    const all = (await admin.get('/sessions')).json.data.map((row: { session_id: string }) => row.session_id);
    expect(all).toEqual(expect.arrayContaining([one.sessionId, other.sessionId, admin.sessionId]));
    expect((await admin.post(`/sessions/${other.sessionId}/revoke`)).status).toBe(200);
    expect((await other.get('/session')).status).toBe(401);
    expect((await admin.post(`/sessions/${other.sessionId}/revoke`)).status).toBe(404);
    expect((await one.post(`/sessions/${one.sessionId}/revoke`)).status).toBe(200);
    expect((await one.get('/session')).status).toBe(401);
  });
});
