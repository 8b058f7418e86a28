import { describe, expect, test } from 'vitest';
import {
  createOperator,
  disableOperator,
  resetOperator,
  setOperatorRole,
} from '../../src/operators/index.ts';
import { refusal } from '../helpers/console.ts';
import { codeOfText, goodPassword } from '../helpers/operators.ts';
import { keyring } from '../helpers/partners.ts';
import { startSignIn } from './sign-in-world.ts';

const minuteMs = 60_000;
const { pool, clock, audit, signIn, visit, newName, from, auditOf } = await startSignIn();

describe('the setup link', () => {
  const invite = async (name: string) => {
    const creation = await createOperator(audit, keyring, { name, role: 'support' });
    if (creation.outcome !== 'created') throw new Error(creation.outcome);
    return creation;
  };
  const codeFor = (secret: string) => codeOfText(secret, clock.nowMs());

  test('works once: sets password and one-time code, and signs in', async () => {
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
    expect(set.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-kopeck=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/),
      expect.stringMatching(
        /^__Host-kopeck-device=[\w-]{43}\.[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=7776000$/,
      ),
    ]);
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
    // The code that confirmed the authenticator is used up too.
    expect(await visit().post('/login', { name, password: goodPassword, code }, from())).toMatchObject(
      refusal(401, 'wrong_credentials'),
    );
  });

  test('used twice at the same time works once', async () => {
    const { token } = await invite(newName());
    const { json } = await visit().post('/setup/look', { token });
    const body = { token, password: goodPassword, code: codeFor(json.totp_secret) };
    const answers = await Promise.all([visit().post('/setup', body), visit().post('/setup', body)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  test('is invalid after a day, after a reset and when the operator is disabled', async () => {
    const first = await invite(newName());
    const { operatorId } = first.operator;
    const second = await resetOperator(audit, keyring, operatorId, { allowLastAdmin: false });
    if (second.outcome !== 'reset') throw new Error(second.outcome);
    expect((await visit().post('/setup/look', { token: first.token })).status).toBe(404);
    expect((await visit().post('/setup/look', { token: second.token })).status).toBe(200);
    clock.advance(24 * 60 * minuteMs);
    expect((await visit().post('/setup/look', { token: second.token })).status).toBe(404);

    const other = await invite(newName());
    await disableOperator(audit, other.operator.operatorId);
    expect((await visit().post('/setup/look', { token: other.token })).status).toBe(404);
  });

  test('is not stored in plain text, nor is any other secret', async () => {
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
    // The hash of a token does not work as a token.
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

describe('a session', () => {
  test('ends after half an hour without activity, but not before', async () => {
    const viewer = await signIn('viewer');
    clock.advance(29 * minuteMs);
    expect((await viewer.get('/session')).status).toBe(200);
    clock.advance(29 * minuteMs);
    expect((await viewer.get('/session')).status).toBe(200);
    clock.advance(30 * minuteMs);
    expect(await viewer.get('/session')).toMatchObject(refusal(401, 'signed_out'));
  });

  test('is not kept alive by requests that the page makes by itself', async () => {
    const viewer = await signIn('viewer');
    for (let minutes = 0; minutes < 28; minutes += 7) {
      clock.advance(7 * minuteMs);
      expect((await viewer.get('/session', { 'x-background': '1' })).status).toBe(200);
    }
    clock.advance(2 * minuteMs);
    expect((await viewer.get('/session', { 'x-background': '1' })).status).toBe(401);
  });

  test('ends after twelve hours even if active', async () => {
    const viewer = await signIn('viewer');
    for (let passed = 0; passed < 12 * 60 - 20; passed += 20) {
      clock.advance(20 * minuteMs);
      expect((await viewer.get('/session')).status).toBe(200);
    }
    clock.advance(20 * minuteMs);
    expect((await viewer.get('/session')).status).toBe(401);
  });

  test('updates last_seen_at once a minute at most', async () => {
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

  test('follows a change of role and ends when the operator is disabled, at once', async () => {
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
    // Enabling does not restore the session: the operator signs in again.
    expect((await admin.post(`/operators/${viewer.operatorId}/enable`)).status).toBe(200);
    expect((await viewer.get('/session')).status).toBe(401);
  });

  test('can be seen and revoked by its operator and by admins', async () => {
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
