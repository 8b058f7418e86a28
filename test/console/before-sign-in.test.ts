import { beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { refuseUnstorableText } from '../../src/api/http/body.ts';
import { parseJson } from '../../src/base/json.ts';
import { answers, refusal, startConsole } from '../helpers/console.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { sendRaw, sendRequest } from '../helpers/raw-http.ts';

/** A body that is parsed ends in `JSON.parse`, and every body here begins with the key `name`; no answer does. */
let parse: MockInstance<typeof JSON.parse>;
beforeEach(() => {
  parse = vi.spyOn(JSON, 'parse');
});
const countParsed = () => parse.mock.calls.filter(([text]) => /^\{"name"/.test(text)).length;

const { pool, sql, clock } = await createTimedDatabase();
const { address, routes, visit, signIn } = await startConsole({ pool, clock });
const open = routes.filter(
  ({ method, needs, url }) => method === 'POST' && needs === 'nothing' && !url.endsWith('*'),
);

const post = (path: string, body: string) =>
  sendRequest(address, {
    method: 'POST',
    path,
    body,
    headers: { origin: address, 'content-length': `${body.length}` },
  });
const ofBytes = (bytes: number) => `{"name":"${'x'.repeat(bytes - 11)}"}`;
const ofDepth = (levels: number) => `{"name":${'['.repeat(levels - 1)}1${']'.repeat(levels - 1)}}`;

describe('without a session', () => {
  test('there are routes to sign in', () => {
    expect(open.map(({ url }) => url)).toContain('/console/api/login');
  });

  test.each(open)('a body of more than 4 KiB to $url is refused and not parsed', async ({ url }) => {
    const answer = await post(url, ofBytes(4_097));
    expect(answer).toMatchObject(refusal(400, 'invalid_request'));
    expect(answer.json.error.message).toBe('The body is larger than 4 KiB.');
    expect(countParsed()).toBe(0);
    await answers(422, post(url, ofBytes(4_096)));
    expect(countParsed()).toBe(1);
  });

  test.each(open)('a body to $url is nested at most 8 levels deep', async ({ url }) => {
    const typesOf = async (levels: number) =>
      (await post(url, ofDepth(levels))).json.detail.map(({ type }: { type: string }) => type);
    expect(await typesOf(9)).toEqual(['json_invalid']);
    expect(await typesOf(8)).not.toContain('json_invalid');
  });

  test('a body that is announced as larger is refused before it arrives', async () => {
    const head = `POST /console/api/login HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\n`;
    const answer = await sendRaw(address, `${head}Content-Length: 4097\r\n\r\n{`);
    expect(answer).toMatchObject(refusal(400, 'invalid_request'));
  });

  test.each(['/console/api/unknown', '/unknown', '/v1/unknown', '/v1/payments', '/console/api/logout'])(
    'no body to %s is parsed',
    async path => {
      expect([401, 404]).toContain((await post(path, '{"name":1}')).status);
      expect(countParsed()).toBe(0);
    },
  );
});

test('an address that has used up its sign-ins is refused before its body is parsed', async () => {
  await sql`INSERT INTO login_attempts (at, name_hash, address)
     SELECT ${new Date(clock.nowMs())}, sha256(n::text::bytea), '127.0.0.1' FROM generate_series(1, 20) AS n`;
  const attempt = { name: 'nobody', password: 'x', code: '000000' };
  await answers('429 throttled', visit().post('/login', attempt));
  expect(countParsed()).toBe(1);
  const next = await visit().post('/login', attempt);
  expect(next).toMatchObject(refusal(429, 'throttled'));
  expect(next.headers.get('retry-after')).toBe('900');
  expect(countParsed()).toBe(1);

  // The device may be known; that depends on the name.
  const device = { cookie: '__Host-kopeck-device=any' };
  await answers('429 throttled', visit().post('/login', attempt, device));
  expect(countParsed()).toBe(2);
});

test('a signed-in operator may send more', async () => {
  const admin = await signIn('admin');
  const answer = await admin.post('/partners', { name: 'x'.repeat(5_000) });
  expect(answer.status).toBe(422);
  expect(countParsed()).toBe(1);
});

test('the location of a text is built only if the text cannot be stored', () => {
  const loc = ['body'];
  const copied = vi.spyOn(loc, Symbol.iterator as never);
  const body = (text: string) => parseJson(`{"a":[1,{"b":["x","y","${text}"]}]}`);
  refuseUnstorableText(body('z'), loc);
  expect(copied).not.toHaveBeenCalled();
  expect(() => refuseUnstorableText(body('\\u0000'), loc)).toThrow(
    expect.objectContaining({ details: [expect.objectContaining({ loc: ['body', 'a', 1, 'b', 2] })] }),
  );
});
