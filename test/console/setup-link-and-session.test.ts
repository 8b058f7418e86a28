import { test as base, describe, expect } from 'vitest';
import {
  createOperator,
  disableOperator,
  resetOperator,
  setOperatorRole,
} from '../../src/operators/index.ts';
import { answers } from '../helpers/console.ts';
import { codeOfText, goodPassword } from '../helpers/operators.ts';
import { keyring } from '../helpers/partners.ts';
import { startSignIn } from './sign-in-world.ts';

const minuteMs = 60_000;
const { sql, clock, audit, signIn, visit, newName, login, auditOf } = await startSignIn();
const test = base.extend('viewer', () => signIn('viewer'));

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
    await answers('400 weak_password', page.post('/setup', { token, password: `${name}${name}`, code }));
    await answers('400 wrong_code', page.post('/setup', { token, password: goodPassword, code: '12345' }));
    const set = await page.post('/setup', { token, password: goodPassword, code });
    expect(set).toMatchObject({ status: 200, json: { operator: { name, role: 'support' } } });
    expect(set.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-kopeck=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/),
      expect.stringMatching(
        /^__Host-kopeck-device=[\w-]{43}\.[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=7776000$/,
      ),
    ]);
    await answers(200, page.get('/session'));

    await answers('404 no_link', visit().post('/setup/look', { token }));
    await answers('404 no_link', visit().post('/setup', { token, password: goodPassword, code }));
    const actions = ['operator.create', 'operator.enrol', 'session.sign_in'];
    expect(await auditOf(name)).toMatchObject(actions.map(action => ({ action })));
    // The code that confirmed the authenticator is used up too.
    await answers('401 wrong_credentials', login({ name, password: goodPassword }, code));
  });

  test('used twice at the same time works once', async () => {
    const { token } = await invite(newName());
    const { json } = await visit().post('/setup/look', { token });
    const body = { token, password: goodPassword, code: codeFor(json.totp_secret) };
    const given = await Promise.all([visit().post('/setup', body), visit().post('/setup', body)]);
    expect(given.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  test('is invalid after a day, after a reset and when the operator is disabled', async () => {
    const first = await invite(newName());
    const { operatorId } = first.operator;
    const second = await resetOperator(audit, keyring, operatorId, { allowLastAdmin: false });
    if (second.outcome !== 'reset') throw new Error(second.outcome);
    await answers(404, visit().post('/setup/look', { token: first.token }));
    await answers(200, visit().post('/setup/look', { token: second.token }));
    clock.advance(24 * 60 * minuteMs);
    await answers(404, visit().post('/setup/look', { token: second.token }));

    const other = await invite(newName());
    await disableOperator(audit, other.operator.operatorId);
    await answers(404, visit().post('/setup/look', { token: other.token }));
  });

  test('is not stored in plain text, nor is any other secret', async () => {
    const name = newName();
    const { token } = await invite(name);
    const { json } = await visit().post('/setup/look', { token });
    const page = visit();
    await page.post('/setup', { token, password: goodPassword, code: codeFor(json.totp_secret) });
    const session = page.cookie!.split('=')[1]!;
    const rows = await sql`SELECT o::text AS line FROM operators o UNION ALL
                           SELECT s::text FROM operator_sessions s UNION ALL SELECT a::text FROM audit a`;
    const everything = rows.map(({ line }) => line).join('\n');
    for (const secret of [token, json.totp_secret, goodPassword, session]) {
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(Buffer.from(secret).toString('hex'));
    }
    // The hash of a token does not work as a token.
    const hashes =
      await sql`SELECT encode(token_hash, 'hex') AS hex, token_hash AS bytes FROM operator_sessions`;
    for (const { hex, bytes } of hashes)
      for (const stolen of [hex, bytes.toString('base64url')]) {
        const thief = visit();
        thief.cookie = `__Host-kopeck=${stolen}`;
        await answers(401, thief.get('/session'));
      }
  });
});

describe('a session', () => {
  test('ends after half an hour without activity, but not before', async ({ viewer }) => {
    clock.advance(29 * minuteMs);
    await answers(200, viewer.get('/session'));
    clock.advance(29 * minuteMs);
    await answers(200, viewer.get('/session'));
    clock.advance(30 * minuteMs);
    await answers('401 signed_out', viewer.get('/session'));
  });

  test('is not kept alive by requests that the page makes by itself', async ({ viewer }) => {
    for (let minutes = 0; minutes < 28; minutes += 7) {
      clock.advance(7 * minuteMs);
      await answers(200, viewer.get('/session', { 'x-background': '1' }));
    }
    clock.advance(2 * minuteMs);
    await answers(401, viewer.get('/session', { 'x-background': '1' }));
  });

  test('ends after twelve hours even if active', async ({ viewer }) => {
    for (let passed = 0; passed < 12 * 60 - 20; passed += 20) {
      clock.advance(20 * minuteMs);
      await answers(200, viewer.get('/session'));
    }
    clock.advance(20 * minuteMs);
    await answers(401, viewer.get('/session'));
  });

  test('updates last_seen_at once a minute at most', async ({ viewer }) => {
    const seen = async () =>
      (
        await sql`SELECT s.xmin::text, last_seen_at FROM operator_sessions s JOIN operators o ON o.id = operator_id
                  WHERE name = ${viewer.name}`
      )[0];
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
    await answers('403 forbidden', viewer.post('/operators', { name: 'x1', role: 'viewer' }));
    await setOperatorRole(audit, viewer.operatorId, 'admin');
    await answers(200, viewer.post('/operators', { name: newName(), role: 'viewer' }));
    await setOperatorRole(audit, viewer.operatorId, 'support');
    await answers(403, viewer.post('/operators', { name: newName(), role: 'viewer' }));
    await answers(200, admin.post(`/operators/${viewer.operatorId}/disable`));
    await answers(401, viewer.get('/session'));
    // Enabling does not restore the session: the operator signs in again.
    await answers(200, admin.post(`/operators/${viewer.operatorId}/enable`));
    await answers(401, viewer.get('/session'));
  });

  test('can be seen and revoked by its operator and by admins', async () => {
    const admin = await signIn('admin');
    const [one, other] = [await signIn('support'), await signIn('support')];
    const own = (await one.get('/sessions')).json.data;
    expect(own).toMatchObject([{ session_id: one.sessionId, operator: one.name, is_this_one: true }]);
    await answers('404 no_session', one.post(`/sessions/${other.sessionId}/revoke`));
    await answers(200, other.get('/session'));
    const all = (await admin.get('/sessions')).json.data.map((row: { session_id: string }) => row.session_id);
    expect(all).toEqual(expect.arrayContaining([one.sessionId, other.sessionId, admin.sessionId]));
    await answers(200, admin.post(`/sessions/${other.sessionId}/revoke`));
    await answers(401, other.get('/session'));
    await answers(404, admin.post(`/sessions/${other.sessionId}/revoke`));
    await answers(200, one.post(`/sessions/${one.sessionId}/revoke`));
    await answers(401, one.get('/session'));
  });
});
