import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { documentApi } from '../../src/api/docs/openapi.ts';
import type { ConnectionLimits } from '../../src/api/http/connections.ts';
import { createFastify } from '../../src/api/http/fastify.ts';
import { createStaticFile, sendStaticFile } from '../../src/api/http/static-file.ts';
import { systemClock } from '../../src/base/clock.ts';

const megabyte = 1024 * 1024;

/** A server without a database; `/big` answers with more than the kernel keeps for a caller that does not read. */
async function startServer(connectionLimits: Partial<ConnectionLimits> = {}, trustProxy: string[] = []) {
  const server = createFastify({ clock: systemClock, trustProxy, connectionLimits });
  const served: Socket[] = [];
  server.server.on('connection', socket => served.push(socket));
  await documentApi(server, { clock: systemClock });
  const handled: string[] = [];
  server.get('/big', ({ url }, reply) => {
    handled.push(url);
    return reply.send(Buffer.alloc(12 * megabyte, 'x'));
  });
  const file = createStaticFile('application/octet-stream', randomBytes(5 * megabyte));
  server.get('/file', (request, reply) => sendStaticFile(request, reply, file));
  server.post('/json', async () => ({ ok: true }));
  server.get('/slow', async () => sleep(600, { ok: true }));
  server.get('/slower', async () => sleep(1_800, { ok: true }));
  server.get('/small', async ({ url }) => {
    handled.push(url);
    return { url };
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  const clients: Socket[] = [];
  onTestFinished(async () => {
    for (const client of clients) client.destroy();
    await server.close();
  });
  /** Sends these requests at once and reads nothing until `resume` is called. */
  const open = (...paths: string[]) => {
    const client = connect(port, '127.0.0.1').pause();
    clients.push(client);
    client.on('error', () => {});
    client.write(paths.map(path => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
    return client;
  };
  /** Sends any text, and keeps its end open when the server closes. */
  const raw = (text: string, localAddress = '127.0.0.1') => {
    const client = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    clients.push(client);
    client.on('error', () => {});
    client.write(text);
    return client;
  };
  const isServing = async () => (await fetch(`${address}/openapi.json`)).ok;
  return { address, served, handled, open, raw, isServing };
}

/** What arrives from now on. */
function textOf(client: Socket): () => string {
  let text = '';
  client.resume().on('data', chunk => (text += chunk));
  return () => text;
}

const waitForUnread = (served: Socket[], count: number) =>
  vi.waitFor(
    () => expect(served.filter(({ writableLength }) => writableLength > 0)).toHaveLength(count),
    60_000,
  );

test('callers who do not read a file share its bytes', async () => {
  const { address, served, open } = await startServer();
  await (await fetch(`${address}/file`, { headers: { 'accept-encoding': 'identity' } })).arrayBuffer();
  const before = process.memoryUsage().arrayBuffers;
  const count = 20;
  // Together they would fill the buffers of the kernel several times.
  const clients = Array.from({ length: count }, () => open('/file', '/file', '/file'));
  await waitForUnread(served, count);
  const kept = process.memoryUsage().arrayBuffers - before;
  expect(kept).toBeLessThan(20 * megabyte);
  for (const client of clients) client.destroy();
});

test('requests that are sent before their answers are read are handled one at a time', async () => {
  const { handled, served, open, isServing } = await startServer();
  const paths = Array.from({ length: 10 }, (_, index) => `/big?${index}`);
  const client = open(...paths, '/small');
  await waitForUnread(served, 1);
  expect(await isServing()).toBe(true);
  expect(handled).toEqual(['/big?0']);
  expect(served[0]!.writableLength).toBeLessThan(13 * megabyte);
  let tail = '';
  client.resume().on('data', chunk => (tail = (tail + chunk.toString('latin1')).slice(-1_000)));
  await vi.waitFor(() => expect(tail).toMatch(/\{"url":"\/small"\}$/), 60_000);
  expect(handled).toEqual([...paths, '/small']);
});

test('a connection with too many unanswered requests is closed, and no other', async () => {
  const { handled, open, isServing } = await startServer({ maxPipelined: 4 });
  const allowed = open('/slow', '/small?1', '/small?2', '/small?3');
  const refused = open('/slow', ...Array.from({ length: 1_000 }, () => '/small'));
  await once(refused.resume(), 'close');
  const answers = textOf(allowed);
  await vi.waitFor(() => expect(answers().match(/200 OK/g)).toHaveLength(4), 60_000);
  expect(handled).toEqual(['/small?1', '/small?2', '/small?3']);
  expect(await isServing()).toBe(true);
});

test('an answer that is not read is ended, one that is read slowly or takes its time is not', async () => {
  const { served, open } = await startServer({ stallTimeoutMs: 1_500 });
  const stalled = open('/big');
  await waitForUnread(served, 1);
  const slow = open('/big');
  const startedAt = performance.now();
  let bytes = 0;
  slow.resume().on('data', chunk => {
    bytes += chunk.length;
    slow.pause();
    // Longer in all than the time-out. The kernel takes more from the server in steps of megabytes: each must be well within it.
    setTimeout(() => slow.resume(), 10);
  });
  const patient = open('/slower', '/slower');
  const answers = textOf(patient);
  const [server] = served;
  await once(server!, 'close');
  await vi.waitFor(() => expect(bytes).toBeGreaterThan(12 * megabyte), 60_000);
  expect(performance.now() - startedAt).toBeGreaterThan(1_500);
  await vi.waitFor(() => expect(answers().match(/200 OK/g)).toHaveLength(2), 60_000);
  stalled.destroy();
});

test('a process has a bound on connections; a closed one makes place', async () => {
  const { open, served, address } = await startServer({ maxConnections: 3 });
  const [first] = [open('/small'), open('/small'), open('/small')];
  await expect.poll(() => served).toHaveLength(3);
  await once(open('/small').resume(), 'close');
  expect(served.map(({ destroyed }) => destroyed)).toEqual([false, false, false, true]);
  first!.resume().end();
  await once(served[0]!, 'close');
  expect((await fetch(`${address}/small`)).status).toBe(200);
});

const small = 'GET /small HTTP/1.1\r\nHost: x\r\n\r\n';

test('one address cannot take all connections: its longest idle one makes place', async () => {
  const { served, raw } = await startServer({ maxConnections: 3, maxPerAddress: 2 });
  const first = raw(small);
  await once(first, 'data');
  await once(raw(small), 'data');
  first.write(small);
  await once(first, 'data');
  await once(raw(small), 'data');
  expect(served.map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
  await once(raw(small, '127.0.0.2'), 'data');
});

test('no unanswered request makes place for a connection of its address', async () => {
  const { served, open } = await startServer({ maxPerAddress: 2 });
  open('/big');
  open('/big');
  await waitForUnread(served, 2);
  await once(open('/small').resume(), 'close');
  expect(served.map(({ destroyed }) => destroyed)).toEqual([false, false, true]);
});

test('a trusted proxy has as many connections as the process', async () => {
  const { served, raw } = await startServer({ maxPerAddress: 2 }, ['127.0.0.0/8']);
  for (let index = 0; index < 4; index += 1) await once(raw(small), 'data');
  expect(served.map(({ destroyed }) => destroyed)).toEqual([false, false, false, false]);
});

test('connections that are idle, or whose headers or bodies are late, are closed', async () => {
  const timeouts = { headersTimeoutMs: 200, requestTimeoutMs: 400, keepAliveTimeoutMs: 200 };
  const { served, raw } = await startServer({ ...timeouts, checkIntervalMs: 50 });
  const late = 'Host: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n';
  const texts = [
    '',
    'GET /small HTTP/1.1\r\nHo',
    'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    'not HTTP\r\n\r\n',
    'GET /small HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /small HTTP/1.1\r\nHost: x\r\n\r\nGET /sm',
    `POST /json HTTP/1.1\r\n${late}{"a`,
    `POST /nothing HTTP/1.1\r\n${late}{"a`,
    'POST /json HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a',
  ];
  // They never close their end, as a program does that has forgotten them.
  for (const text of texts) for (let index = 0; index < 20; index += 1) raw(text);
  const drip = raw('GET /small HTTP/1.1\r\n');
  const dripping = setInterval(() => drip.write('X: y\r\n'), 20);
  onTestFinished(() => clearInterval(dripping));
  const count = texts.length * 20 + 1;
  await vi.waitFor(() => expect(served).toHaveLength(count), 60_000);
  const isOpen = ({ destroyed }: Socket) => !destroyed;
  await vi.waitFor(() => expect(served.filter(isOpen)).toHaveLength(0), 60_000);
});

test('an error of the next request is not taken for the answer to this one', async () => {
  const { raw } = await startServer();
  const client = raw('GET /slow HTTP/1.1\r\nHost: x\r\n\r\nnot HTTP\r\n\r\n');
  const received = textOf(client);
  await once(client, 'end');
  expect(received()).toBe('');
});
