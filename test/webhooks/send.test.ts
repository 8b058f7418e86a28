import type { LookupAddress } from 'node:dns';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSender, type SenderOptions, type Sending } from '../../src/webhooks/http/send.ts';
import { checkWebhookUrl } from '../../src/webhooks/http/ssrf-guard.ts';
import { createAuthority, issueSelfSigned } from '../helpers/certificates.ts';
import { startHttpReceiver, startTcpReceiver, startTlsReceiver } from '../helpers/receivers.ts';

const body = JSON.stringify({ id: 'evt_1', text: 'Кофейня' });
const headers = { 'content-type': 'application/json', 'x-service-event': 'payment.succeeded' };
const sendingTo = (url: string): Sending => ({ url, headers, body });
const local = (port: number, path = '/hook?a=1') => sendingTo(`http://127.0.0.1:${port}${path}`);

function senderWith(options: Partial<SenderOptions> = {}) {
  const sender = createSender({ allowPrivate: true, timeoutMs: 5_000, ...options });
  onTestFinished(() => sender.close());
  return sender;
}

const leadsTo =
  (...ips: string[]) =>
  async (): Promise<LookupAddress[]> =>
    ips.map(address => ({ address, family: address.includes(':') ? 6 : 4 }));

const answered = (status: number) => ({ outcome: 'answered', status, durationMs: expect.any(Number) });
const failed = (error: string) => ({ outcome: 'failed', error, durationMs: expect.any(Number) });
const head = 'HTTP/1.1 200 OK\r\n';

/** The verdict comes with the headers; the rest of the answer may be on its way. */
const untilQuiet = () => new Promise(resolve => setTimeout(resolve, 50));

/** What nobody caught would end the service. */
const uncaught: unknown[] = [];
const note = (error: unknown) => uncaught.push(error);
process.on('uncaughtException', note).on('unhandledRejection', note);
afterAll(() => {
  process.off('uncaughtException', note).off('unhandledRejection', note);
  expect(uncaught).toEqual([]);
});

describe('what is sent', () => {
  test('a POST with the headers and the body as they are, to the path and query', async () => {
    const seen: { line: string; headers: IncomingHttpHeaders; text: string }[] = [];
    const receiver = await startHttpReceiver(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, text });
      response.writeHead(204).end();
    });
    const verdict = await senderWith().send(local(receiver.port, '/a%20b?c=%D1%8F'));
    expect(verdict).toEqual(answered(204));
    const host = `127.0.0.1:${receiver.port}`;
    const length = `${Buffer.byteLength(body)}`;
    expect(seen).toEqual([
      {
        line: 'POST /a%20b?c=%D1%8F',
        headers: { ...headers, host, connection: 'keep-alive', 'content-length': length },
        text: body,
      },
    ]);
  });

  test.each([200, 201, 299, 400, 404, 410, 429, 500, 503])('status %d is told as it is', async status => {
    const receiver = await startHttpReceiver((_request, response) => response.writeHead(status).end('text'));
    expect(await senderWith().send(local(receiver.port))).toEqual(answered(status));
  });

  test.each([301, 302, 303, 307, 308])('a redirect (%d) is an answer and leads nowhere', async status => {
    const canary = await startHttpReceiver();
    const location = `http://127.0.0.1:${canary.port}/inside`;
    const receiver = await startHttpReceiver((_request, response) =>
      response.writeHead(status, { location }).end(),
    );
    expect(await senderWith().send(local(receiver.port))).toEqual(answered(status));
    expect(canary.connections).toEqual([]);
  });

  test('a header that cannot be sent is our mistake, and takes no place', async () => {
    const receiver = await startHttpReceiver();
    const sender = senderWith({ maxSocketsPerHost: 1 });
    const bad = { ...local(receiver.port), headers: { 'x-service-event': 'a\r\nb: c' } };
    await expect(sender.send(bad)).rejects.toThrow('Invalid character in header content');
    await expect(sender.send(sendingTo('no url'))).rejects.toThrow('Invalid URL');
    expect(await sender.send(local(receiver.port))).toEqual(answered(200));
  });
});

describe('nothing inside can be reached', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '①②⑦.0.0.1',
    '127.0.0.1.',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    'localhost',
    'localhost.',
    'a.localhost',
  ])('at %s', async host => {
    const canary = await startTcpReceiver();
    const sender = senderWith({ allowPrivate: false });
    for (const start of ['https', 'http']) {
      expect(await sender.send(sendingTo(`${start}://${host}:${canary.port}/`))).toEqual(
        failed('blocked_address'),
      );
    }
    expect(canary.connections).toEqual([]);
    expect(sender.hosts).toBe(0);
  });

  test.each([
    ['loopback', ['127.0.0.1']],
    ['loopback, mapped', ['::ffff:7f00:1']],
    ['loopback and a public address', ['93.184.215.14', '127.0.0.1']],
    ['a private network', ['10.1.2.3']],
  ])('by a name that leads to %s since it was saved', async (_kind, ips) => {
    const canary = await startTcpReceiver();
    const url = `https://hooks.example.com:${canary.port}/`;
    expect(checkWebhookUrl(url, { allowPrivate: false })).toMatchObject({ outcome: 'ok' });
    const sender = senderWith({ allowPrivate: false, lookup: leadsTo(...ips) });
    expect(await sender.send(sendingTo(url))).toEqual(failed('blocked_address'));
    expect(canary.connections).toEqual([]);
  });

  test.each(['http://hooks.example.com:8080/', 'https://hooks.example.com:22/', 'https://hooks.local/'])(
    '%s was perhaps saved under other settings',
    async url => {
      const lookup = vi.fn(leadsTo('93.184.215.14'));
      const sender = senderWith({ allowPrivate: false, lookup });
      expect(await sender.send(sendingTo(url))).toEqual(failed('blocked_address'));
      expect(lookup).not.toHaveBeenCalled();
    },
  );

  test('a user name in the address is not sent', async () => {
    const seen: IncomingHttpHeaders[] = [];
    const receiver = await startHttpReceiver((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    await senderWith().send(sendingTo(`http://user:password@127.0.0.1:${receiver.port}/`));
    expect(seen).toHaveLength(1);
    expect(seen[0]).not.toHaveProperty('authorization');
  });
});

describe('TLS', () => {
  const authority = createAuthority();
  const validUntil = new Date('2049-05-06T07:08:09Z');
  const proper = authority.issue(['hooks.example.com', '127.0.0.1'], validUntil);
  const lookup = leadsTo('127.0.0.1');
  const { ca } = authority;
  const named = (port: number) => sendingTo(`https://hooks.example.com:${port}/`);

  test('who proves the name is sent to, and the certificate is told', async () => {
    const receiver = await startTlsReceiver(proper);
    const sender = senderWith({ lookup, ca });
    const tls = { protocol: 'TLSv1.3', validUntil: validUntil.toISOString() };
    expect(await sender.send(named(receiver.port))).toEqual({ ...answered(200), tls });
    await untilQuiet();
    expect(await sender.send(named(receiver.port))).toEqual({ ...answered(200), tls });
    expect(receiver.connections).toHaveLength(1);
    // A second connection proves the name as well as the first did.
    for (const socket of receiver.connections) socket.destroy();
    await untilQuiet();
    expect(await sender.send(named(receiver.port))).toEqual({ ...answered(200), tls });
    expect(receiver.connections).toHaveLength(2);
    const byAddress = sendingTo(`https://127.0.0.1:${receiver.port}/`);
    expect(await sender.send(byAddress)).toEqual({ ...answered(200), tls });
  });

  test.each([
    ['only its own key vouches for', issueSelfSigned(['hooks.example.com'])],
    ['an unknown authority vouches for', createAuthority().issue(['hooks.example.com'])],
    ['is for another name', authority.issue(['hooks.example.org'])],
    ['is for the address instead of the name', authority.issue(['127.0.0.1'])],
    ['has run out', authority.issue(['hooks.example.com'], new Date('2020-01-01T00:00:00Z'))],
  ])('a certificate that %s', async (_kind, issued) => {
    const receiver = await startTlsReceiver(issued);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await senderWith({ lookup, ca }).send(named(receiver.port))).toEqual(failed('tls'));
  });

  test('a receiver without TLS', async () => {
    const receiver = await startHttpReceiver();
    expect(await senderWith({ lookup, ca }).send(named(receiver.port))).toEqual(failed('tls'));
  });

  test('a receiver that says nothing to the handshake, or hangs up', async () => {
    const silent = await startTcpReceiver();
    const sender = senderWith({ lookup, ca, timeoutMs: 150 });
    expect(await sender.send(named(silent.port))).toEqual(failed('timeout'));
    const rude = await startTcpReceiver(socket => socket.destroy());
    expect(await sender.send(named(rude.port))).toEqual(failed('closed'));
  });
});

describe('receivers that behave badly', () => {
  test('nobody listens', async () => {
    expect(await senderWith().send(local(1))).toEqual(failed('refused'));
  });

  test('a name that nobody knows', async () => {
    const lookup = () => Promise.reject(new Error('getaddrinfo ENOTFOUND'));
    expect(await senderWith({ lookup }).send(sendingTo('https://hooks.example.com/'))).toEqual(failed('dns'));
  });

  test('a name server that keeps silent', async () => {
    const lookup = () => new Promise<LookupAddress[]>(() => {});
    const sender = senderWith({ lookup, timeoutMs: 100 });
    expect(await sender.send(sendingTo('https://hooks.example.com/'))).toEqual(failed('timeout'));
  });

  /** Says it in pieces, one every 20 ms. */
  const drip = (socket: Socket, pieces: Iterable<string>) => {
    const iterator = pieces[Symbol.iterator]();
    const timer = setInterval(() => {
      const { value, done } = iterator.next();
      if (done) clearInterval(timer);
      else socket.write(value);
    }, 20);
    socket.on('close', () => clearInterval(timer));
  };

  function* interimAnswers() {
    for (;;) yield 'HTTP/1.1 103 Early Hints\r\n\r\n';
  }

  test.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => {}],
    ['says the status and no more', socket => void socket.write(head)],
    ['drips headers', socket => drip(socket, `${head}x-long: ${'a'.repeat(1000)}\r\n\r\n`)],
    ['never gets beyond interim answers', socket => drip(socket, interimAnswers())],
  ])('one that %s runs out of time, and its connection is closed', async (_kind, speak) => {
    const receiver = await startTcpReceiver(speak);
    const startedAt = performance.now();
    const verdict = await senderWith({ timeoutMs: 200 }).send(local(receiver.port));
    expect(verdict).toEqual(failed('timeout'));
    expect(verdict.durationMs).toBeGreaterThanOrEqual(195);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    await expect.poll(() => receiver.connections.every(socket => socket.destroyed)).toBe(true);
  });

  test.each<[string, string, (socket: Socket) => void]>([
    ['closes at once', 'closed', socket => socket.destroy()],
    ['resets', 'closed', socket => socket.on('data', () => socket.resetAndDestroy())],
    ['closes after the request', 'closed', socket => socket.on('data', () => socket.end())],
    ['closes amid the headers', 'bad_answer', socket => socket.end(`${head}content-le`)],
    ['speaks SSH', 'bad_answer', socket => socket.write('SSH-2.0-OpenSSH_9.9\r\n')],
    ['speaks nothing known', 'bad_answer', socket => socket.write(Buffer.alloc(100, 0xfe))],
    ['answers with a status of letters', 'bad_answer', socket => socket.write('HTTP/1.1 abc OK\r\n\r\n')],
    [
      'switches protocols',
      'bad_answer',
      socket => socket.write('HTTP/1.1 101 Ok\r\nupgrade: a\r\nconnection: upgrade\r\n\r\n'),
    ],
    ['says "continue" unasked', 'bad_answer', socket => socket.write('HTTP/1.1 100 Continue\r\n\r\n')],
    ['sends headers without end', 'bad_answer', socket => socket.write(`${head}a: ${'b'.repeat(100_000)}`)],
  ])('one that %s: %s', async (_kind, error, speak) => {
    const receiver = await startTcpReceiver(speak);
    expect(await senderWith().send(local(receiver.port))).toEqual(failed(error));
  });

  test('an interim answer is not the answer', async () => {
    const receiver = await startTcpReceiver(socket =>
      socket.write(`HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(await senderWith().send(local(receiver.port))).toEqual(answered(500));
  });
});

describe('the body of an answer', () => {
  test.each([
    ['with a length', `${head}content-length: 1000000000000\r\n\r\n`],
    ['in chunks', `${head}transfer-encoding: chunked\r\n\r\n`],
    ['until the end of the connection', `${head}connection: close\r\n\r\n`],
  ])('without end (%s) holds up nobody, and the connection is closed', async (_kind, start) => {
    const piece = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
    const receiver = await startTcpReceiver(socket => {
      const pour = () => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on('drain', pour).write(start);
      pour();
    });
    const verdict = await senderWith().send(local(receiver.port));
    expect(verdict).toEqual(answered(200));
    expect(verdict.durationMs).toBeLessThan(1_000);
    await expect.poll(() => receiver.connections.every(socket => socket.destroyed)).toBe(true);
    // What the kernel buffers on both sides; the rest was never read.
    expect(receiver.connections[0]?.bytesWritten).toBeLessThan(16 * 1024 * 1024);
  });

  test('that will be long is not waited for', async () => {
    const receiver = await startTcpReceiver(socket => socket.write(`${head}content-length: 1025\r\n\r\n`));
    expect(await senderWith().send(local(receiver.port))).toEqual(answered(200));
    await expect.poll(() => receiver.connections.every(socket => socket.destroyed)).toBe(true);
  });

  test('that stops amid holds up nobody, and its connection is closed at the deadline', async () => {
    const receiver = await startTcpReceiver(socket => socket.write(`${head}content-length: 10\r\n\r\nabc`));
    const sender = senderWith({ timeoutMs: 300 });
    const verdict = await sender.send(local(receiver.port));
    expect(verdict).toEqual(answered(200));
    expect(verdict.durationMs).toBeLessThan(250);
    expect(receiver.connections[0]?.destroyed).toBe(false);
    await expect.poll(() => receiver.connections.every(socket => socket.destroyed)).toBe(true);
    expect(sender.hosts).toBe(0);
  });

  test.each<[number, RequestListener]>([
    [1, (_request, response) => response.end('a'.repeat(1024))],
    [1, (_request, response) => response.write('a') && response.end('b')],
    [3, (_request, response) => response.end('a'.repeat(1025))],
    [3, (_request, response) => response.write('a'.repeat(1024)) && response.end('b')],
    [3, (_request, response) => response.writeHead(200, { connection: 'close' }).end('a'.repeat(5000))],
  ])('if small leaves the connection open: three sends, %d connections', async (connections, answer) => {
    const receiver = await startHttpReceiver((request, response) =>
      request.resume().on('end', () => answer(request, response)),
    );
    const sender = senderWith();
    for (let count = 0; count < 3; count++) {
      expect(await sender.send(local(receiver.port))).toEqual(answered(200));
      await untilQuiet();
    }
    expect(receiver.connections).toHaveLength(connections);
  });
});
