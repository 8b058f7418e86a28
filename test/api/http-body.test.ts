import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { expectMalformed, partnerAt } from '../helpers/api.ts';
import { expectError, sendRaw, sendRequest } from '../helpers/raw-http.ts';
import { startHttpWorld } from './http-world.ts';

const { address, partner, authorization } = await startHttpWorld();

describe('a body', () => {
  const sized = (bytes: number) => '{"amount_rub":"100"}'.padEnd(bytes);
  const posts = ['/v1/quote', '/v1/qr/resolve', '/v1/payments'];
  const quote = (raw: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    partner.post('/v1/quote', { raw, headers });

  test.each([
    ['of exactly 64 KiB is read', sized(64 * 1024), '100.00'],
    ['may begin with a byte order mark', '\ufeff{"amount_rub":"100"}', '100.00'],
    [
      'may have unknown fields, and __proto__ is one of them',
      '{"amount_rub":"100","__proto__":{"amount_rub":"5"},"toString":1,"hasOwnProperty":null}',
      '100.00',
    ],
    ['that names a field twice means the last one', '{"amount_rub":"100","amount_rub":"200"}', '200.00'],
  ])('%s', async (_what, raw, rubles) => {
    expect((await quote(raw)).json.amount_rub).toBe(rubles);
  });

  test.each(posts)('of one byte more is an invalid request to %s', async path => {
    const { status, json } = await partner.post(path, { raw: sized(64 * 1024 + 1) });
    expect({ status, code: json.error.code }).toEqual({ status: 400, code: 'invalid_request' });
    expect(json.error.message).toBe('The body is larger than 64 KiB.');
  });

  test('of one byte more in chunks is an invalid request', async () => {
    const body = sized(64 * 1024 + 1);
    const headers = `POST /v1/quote HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close\r\n`;
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
    const answer = await sendRaw(address, `${headers}Transfer-Encoding: chunked\r\n\r\n`, chunk, '0\r\n\r\n');
    expectError(answer, 400, 'invalid_request');
  });

  test('that is announced as a gigabyte is refused before it is sent', async () => {
    const head = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n`;
    const answer = await sendRaw(address, `${head}Content-Length: 1000000000\r\n\r\n{"qr_url":`);
    expectError(answer, 400, 'invalid_request');
  });

  test('of an unauthenticated caller is not read, however large', async () => {
    expect((await partnerAt(address, 'nobody').post('/v1/quote', { raw: sized(70_000) })).status).toBe(401);
  });

  test.each([
    ...['{', '{"amount_rub":"100"}}', '{"amount_rub":"100",}', '{"amount_rub":NaN}', '{"amount_rub":"1\n0"}'],
    ...['// 100\n{"amount_rub":100}', 'amount_rub=100', ' ', '['.repeat(30_000)],
  ])('that is no JSON is malformed: %s', async raw => {
    const { status, json } = await quote(raw);
    expect(status).toBe(422);
    expect(json.detail).toEqual([
      { loc: ['body', expect.any(Number)], msg: 'JSON decode error', type: 'json_invalid' },
    ]);
  });

  test('gets an error that names the position where it stops being JSON', async () => {
    expectMalformed(await quote('{"amount_rub":}'), 'body', 14);
  });

  test.each([
    ['bad UTF-8', new Uint8Array([...Buffer.from('{"amount_rub":"1'), 0xc3, 0x28, ...Buffer.from('"}')])],
    ['an overlong NUL', new Uint8Array([...Buffer.from('{"a":"'), 0xc0, 0x80, ...Buffer.from('"}')])],
    ['UTF-16', new Uint8Array(Buffer.from('{"amount_rub":"100"}', 'utf16le'))],
    ['gzip', new Uint8Array(gzipSync('{"amount_rub":"100"}'))],
  ])('in %s is malformed', async (_name, raw) => {
    const { status, json } = await quote(raw);
    expect({ status, type: json.detail[0].type }).toEqual({ status: 422, type: 'json_invalid' });
  });

  test.each(posts)('that is missing or no object is malformed at %s', async path => {
    const none = [{}, { headers: { 'content-type': 'application/json' } }];
    for (const options of [...none, ...['[]', 'null', '100'].map(raw => ({ raw }))])
      expectMalformed(await partner.post(path, options), 'body');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16'])(
    'is read as JSON whatever type it claims to be: %j',
    async type => {
      expect((await quote('{"amount_rub":"100"}', { 'content-type': type })).json.amount_rub).toBe('100.00');
    },
  );

  test.each(['', 'nonsense', 'a b/c'])('of an unreadable type is refused: %j', async type => {
    expect(await quote('{"amount_rub":"100"}', { 'content-type': type })).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request', message: expect.stringContaining('Content-Type') } },
    });
  });

  test('cannot fill in a field by way of __proto__', async () => {
    const raw = '{"__proto__":{"amount_rub":"100"},"constructor":{"prototype":{"amount_rub":"100"}}}';
    const { status, json } = await quote(raw);
    expect({ status, detail: json.detail }).toEqual({
      status: 422,
      detail: [{ loc: ['body', 'amount_rub'], msg: 'Field required', type: 'missing' }],
    });
    expect(({} as { amount_rub?: string }).amount_rub).toBeUndefined();
  });

  test('with NUL or half a character anywhere is malformed, and says where', async () => {
    for (const bad of ['\\u0000', '\\ud800', '\\udc00\\ud800'])
      expectMalformed(
        await quote(`{"amount_rub":"100","other":[{"deep":"${bad}"}]}`),
        ...['body', 'other', 0, 'deep'],
      );
  });

  test('of a GET is ignored', async () => {
    const headers = { authorization, 'content-length': '1' };
    expect((await sendRequest(address, { path: '/v1/ping', headers, body: '{' })).status).toBe(200);
  });
});
