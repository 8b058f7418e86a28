import { describe, expect, test } from 'vitest';
import { type JsonObject, parseJson, stringifyJson } from '../../src/base/json.ts';
import { readBalances } from '../../src/ledger/index.ts';
import { expectMalformed, newLink, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
await setRate(pool);
const { newPartner } = await startApi({ pool });
const partner = await newPartner();
const { partnerId } = partner;

let count = 0;
const send = (fields: string) =>
  partner.post('/v1/payments', {
    raw: `{"qr_url":"${newLink(10_000)}"${fields}}`,
    headers: { 'idempotency-key': `metadata ${++count}` },
  });
/** The metadata as they stand in an answer, before any parsing. */
const textOf = (payment: string) => stringifyJson((parseJson(payment) as JsonObject).get('metadata')!);

async function expectRefused(fields: string, ...loc: (string | number)[]) {
  const before = await readBalances(pool, partnerId);
  expectMalformed(await send(fields), ...loc);
  expect(await readBalances(pool, partnerId)).toEqual(before);
}

describe('metadata come back as they were sent', () => {
  test.each([
    ['large integers', '{"n":12345678901234567890}'],
    ['exponents', '{"n":1e400,"m":1E-7,"o":-0,"p":-0.0,"q":1e+2}'],
    ['an empty key', '{"":{"":""}}'],
    ['__proto__', '{"__proto__":{"admin":true},"a":{"__proto__":null}}'],
    ['names of methods', '{"constructor":1,"toString":{},"hasOwnProperty":[],"toJSON":"x","length":0}'],
    ['what looks like HTML or SQL', '{"a":"</script><!--","b":"\'; DROP TABLE payments; --"}'],
    ['what looks like the end of the payment', '{"a":"}}","metadata":{"id":"pay_x"}}'],
  ])('%s', async (_name, metadata) => {
    const paid = await send(`,"metadata":${metadata}`);
    expect(paid.status).toBe(200);
    expect(textOf(paid.text)).toBe(metadata);
    const got = await partner.get(`/v1/payments/${paid.json.id}`);
    expect(got.text).toBe(paid.text);
    const list = (await partner.get('/v1/payments?limit=1')).text;
    expect(list).toContain(`"metadata":${metadata}`);
  });

  test('and do not touch the prototype of anything', async () => {
    await send(',"metadata":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect((await partner.get('/v1/ping')).status).toBe(200);
  });
});

describe('metadata', () => {
  const absent = ['', ',"metadata":null', ',"metadata":{}'];
  test.each(absent)('that are absent are an empty object: %j', async fields => {
    expect((await send(fields)).json.metadata).toEqual({});
  });

  const ofBytes = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;

  test('may have 16 KiB', async () => {
    const metadata = ofBytes(16 * 1024);
    expect(Buffer.byteLength(metadata)).toBe(16_384);
    expect(textOf((await send(`,"metadata":${metadata}`)).text)).toBe(metadata);
  });

  const emoji = (many: number) => `{"a":"${'🙂'.repeat(many)}"}`;
  test('are counted in bytes and not in characters', async () => {
    expect((await send(`,"metadata":${emoji(4_094)}`)).status).toBe(200);
  });

  test('are counted without the spaces between', async () => {
    const metadata = `{${' '.repeat(20_000)}"a":1}`;
    expect(textOf((await send(`,"metadata":${metadata}`)).text)).toBe('{"a":1}');
  });

  const nested = (levels: number, open: string, close: string, inner: string) =>
    `${open.repeat(levels)}${inner}${close.repeat(levels)}`;

  test.each([
    ['objects', nested(31, '{"a":', '}', '{}')],
    ['arrays', `{"a":${nested(30, '[', ']', '[]')}}`],
  ])('may be 32 levels of %s deep', async (_name, metadata) => {
    expect(textOf((await send(`,"metadata":${metadata}`)).text)).toBe(metadata);
  });

  test.each<[what: string, metadata: string, ...path: (string | number)[]]>([
    ['a list', '[]'],
    ['a string', '"{}"'],
    ['a number', '1'],
    ['true', 'true'],
    ['one byte more', ofBytes(16 * 1024 + 1)],
    ['one emoji more', emoji(4_095)],
    ['one level of objects more', nested(32, '{"a":', '}', '{}')],
    ['one level of arrays more', `{"a":${nested(31, '[', ']', '[]')}}`],
    ['one level of both more', `{"b":1,"a":[{},${nested(20, '[{"a":', '}]', '1')}]}`],
    ['NUL in a key', '{"x\\u0000y":1}'],
    ['half a character in a key', '{"\\ud83d":1}'],
    ['NUL deep down', '{"a":[1,{"b":"\\u0000"}]}', 'a', 1, 'b'],
    ['a low surrogate alone', '{"a":"\\ude42"}', 'a'],
  ])('are malformed: %s', async (_name, metadata, ...path) => {
    await expectRefused(`,"metadata":${metadata}`, 'body', 'metadata', ...path);
  });
});

describe('external_id', () => {
  const sendId = (id: unknown) => send(`,"external_id":${JSON.stringify(id)}`);

  test.each([
    ['an empty one', ''],
    ['letters of all kinds', 'Заказ № 42 — 注文 🙂'],
    ['128 emoji', '🙂'.repeat(128)],
  ])('comes back as it was sent: %s', async (_name, id) => {
    const paid = await sendId(id);
    expect(paid.json.external_id).toBe(id);
    expect((await partner.get(`/v1/payments/${paid.json.id}`)).json.external_id).toBe(id);
  });

  test.each(['', ',"external_id":null'])('that is absent is null: %j', async fields => {
    expect((await send(fields)).json.external_id).toBeNull();
  });

  test.each([
    ['129 emoji', '🙂'.repeat(129)],
    ['127 letters and a character of two code points', `${'x'.repeat(127)}e\u0301`],
    ['a number', 42],
    ['an object', {}],
    ['NUL', 'a\0b'],
    ['half a character', '\ud83d'],
  ])('of %s is malformed', async (_name, id) => {
    await expectRefused(`,"external_id":${JSON.stringify(id)}`, 'body', 'external_id');
  });
});

test('all objections to a body come at once', async () => {
  const raw = '{"qr_url":1,"amount_rub":true,"external_id":2,"metadata":3}';
  const { status, json } = await partner.post('/v1/payments', { raw });
  expect(status).toBe(422);
  const places = json.detail.map(({ loc }: { loc: string[] }) => loc.join('.')).sort();
  expect(places).toEqual(['body.amount_rub', 'body.external_id', 'body.metadata', 'body.qr_url']);
});
