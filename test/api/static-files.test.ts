import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { createStaticFile, sendStaticFile, staticMethods } from '../../src/api/http/static-file.ts';

const text = 'a text that repeats '.repeat(200);
const file = createStaticFile('text/plain; charset=utf-8', text);

test.each(['br', 'gzip', 'identity'] as const)('all requests share one buffer: %s', async encoding => {
  const [first, second] = await Promise.all([file.variant(encoding), file.variant(encoding)]);
  expect(first!.bytes).toBe(second!.bytes);
  expect((await file.variant(encoding))!.bytes).toBe(first!.bytes);
  const decode = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes }[encoding];
  expect(`${decode(first!.bytes)}`).toBe(text);
});

const server = Fastify({ exposeHeadRoutes: false });
server.route({
  method: staticMethods,
  url: '/file',
  handler: (request, reply) => sendStaticFile(request, reply, file),
});
const ask = (headers: Record<string, string>) => server.inject({ url: '/file', headers });

test.each([
  ['', undefined],
  ['identity', undefined],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'br'],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['br;q=0,gzip; q=0.000', undefined],
  ['*', 'br'],
  ['*, br;q=0', 'gzip'],
  ['*;q=0', undefined],
  [';;,,=,q=', undefined],
])('Accept-Encoding %j gets %s', async (accepted, encoding) => {
  const { headers, statusCode } = await ask({ 'accept-encoding': accepted });
  expect({ statusCode, encoding: headers['content-encoding'], vary: headers.vary }).toEqual({
    statusCode: 200,
    encoding,
    vary: 'Accept-Encoding',
  });
});

test('a caller that has the file gets 304 without a body', async () => {
  const { headers } = await ask({ 'accept-encoding': 'br' });
  const etag = `${headers.etag}`;
  expect(etag).toMatch(/^"[\w-]{22}-br"$/);
  for (const known of [etag, `"other", W/${etag}`, '*']) {
    const again = await ask({ 'accept-encoding': 'br', 'if-none-match': known });
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag]);
  }
  // The compressed and the plain form are different representations.
  expect((await ask({ 'if-none-match': etag })).statusCode).toBe(200);
});

test('a large file is written in pieces, in many turns of the event loop', async () => {
  const content = randomBytes(1024 * 1024);
  const large = createStaticFile('application/octet-stream', content);
  const server = Fastify();
  server.get('/large', (request, reply) => sendStaticFile(request, reply, large));
  onTestFinished(() => server.close());
  let turn = 0;
  const count = () => {
    turn += 1;
    counter = setImmediate(count);
  };
  let counter = setImmediate(count);
  onTestFinished(() => clearImmediate(counter));
  const writes: { bytes: number; turn: number }[] = [];
  server.server.on('connection', socket => {
    const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
    socket.write = (...given: unknown[]) => {
      writes.push({ bytes: (given[0] as Buffer).length, turn });
      return write(...given);
    };
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const received = Buffer.from(await (await fetch(`${address}/large`)).arrayBuffer());
  expect(received.equals(content)).toBe(true);
  expect(Math.max(...writes.map(({ bytes }) => bytes))).toBeLessThanOrEqual(64 * 1024);
  // Of 16 pieces some may share a turn: one that waited for the socket, and the next.
  expect(new Set(writes.map(one => one.turn)).size).toBeGreaterThan(4);
});
