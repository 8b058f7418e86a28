import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { manualClock } from '../helpers/clock.ts';
import { startHttpReceiver, startTcpReceiver } from '../helpers/tcp-receivers.ts';
import {
  answered,
  beyondReach,
  expectNothingUncaught,
  failed,
  head,
  local,
  senderWith,
  sendingTo,
} from './sending.ts';

expectNothingUncaught();

describe('receivers that behave badly', () => {
  test('an unknown name', async () => {
    const lookup = () => Promise.reject(new Error('getaddrinfo ENOTFOUND'));
    expect(await senderWith({ lookup }).send(sendingTo('https://hooks.example.com/'))).toEqual(failed('dns'));
  });

  /** Sends it in pieces, one every 20 ms. */
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
    const clock = manualClock();
    const sending = senderWith({ clock }).send(local(receiver.port));
    await expect.poll(() => receiver.connections[0]?.bytesRead).toBeGreaterThan(0);
    await clock.advance(beyondReach);
    expect(await sending).toEqual({ ...failed('timeout'), durationMs: beyondReach });
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
    // No time-out ends it.
    expect(await senderWith({ clock: manualClock() }).send(local(receiver.port))).toEqual(answered(200));
    await expect.poll(() => receiver.connections.every(socket => socket.destroyed)).toBe(true);
    // What the kernel buffers on both sides; the rest was never read.
    expect(receiver.connections[0]?.bytesWritten).toBeLessThan(16 * 1024 * 1024);
  });

  test('announced as long is not read', async () => {
    const receiver = await startTcpReceiver(socket => socket.write(`${head}content-length: 1025\r\n\r\n`));
    expect(await senderWith().send(local(receiver.port))).toEqual(answered(200));
    await expect.poll(() => receiver.connections.every(socket => socket.destroyed)).toBe(true);
  });

  test('that stops in the middle delays no other, and its connection is closed at the deadline', async () => {
    const receiver = await startTcpReceiver(socket => socket.write(`${head}content-length: 10\r\n\r\nabc`));
    const clock = manualClock();
    const sender = senderWith({ clock });
    expect(await sender.send(local(receiver.port))).toEqual({ ...answered(200), durationMs: 0 });
    expect(receiver.connections[0]?.destroyed).toBe(false);
    await clock.advance(beyondReach);
    await expect.poll(() => receiver.connections.every(socket => socket.destroyed)).toBe(true);
    await expect.poll(() => sender.hosts).toBe(0);
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
    // A send waits until the connection has read the last answer, or is closed.
    const sender = senderWith({ maxSocketsPerHost: 1 });
    for (let count = 0; count < 3; count++)
      expect(await sender.send(local(receiver.port))).toEqual(answered(200));
    expect(receiver.connections).toHaveLength(connections);
  });
});

describe('the body of a refusal', () => {
  const refusal = 'HTTP/1.1 500 No\r\n';

  test.each<[string, RequestListener, string | undefined]>([
    ['none', (_request, response) => response.writeHead(500).end(), undefined],
    [
      '4 KiB of a longer one',
      (_request, response) => response.writeHead(500).end('a'.repeat(9_000)),
      'a'.repeat(4_096),
    ],
    [
      'no letter that is cut in the middle',
      (_request, response) => response.writeHead(500).end(`a${'я'.repeat(3_000)}`),
      `a${'я'.repeat(2_047)}`,
    ],
    ['no NUL', (_request, response) => response.writeHead(500).end('a\0b'), 'a\ufffdb'],
  ])('is kept: %s', async (_what, answer, body) => {
    const receiver = await startHttpReceiver(answer);
    const kept = body === undefined ? {} : { body };
    expect(await senderWith().send(local(receiver.port))).toEqual({ ...answered(500), ...kept });
  });

  test('that stops in the middle is awaited for a second, and does not count as slow', async () => {
    const receiver = await startTcpReceiver(socket =>
      socket.write(`${refusal}content-length: 10\r\n\r\nabc`),
    );
    const clock = manualClock();
    const sending = senderWith({ clock }).send(local(receiver.port));
    let isOver = false;
    void sending.then(() => {
      isOver = true;
    });
    await expect.poll(() => receiver.connections[0]?.bytesWritten).toBeGreaterThan(0);
    expect(isOver).toBe(false);
    // The answer may arrive only after the time has moved.
    await expect.poll(() => clock.advance(1_000).then(() => isOver)).toBe(true);
    expect(await sending).toMatchObject({ status: 500, body: 'abc' });
  });

  test('without end is not read to its end', async () => {
    const piece = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
    const receiver = await startTcpReceiver(socket => {
      const pour = () => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on('drain', pour).write(`${refusal}transfer-encoding: chunked\r\n\r\n`);
      pour();
    });
    const verdict = await senderWith({ clock: manualClock() }).send(local(receiver.port));
    expect(verdict).toEqual({ ...answered(500), body: 'a'.repeat(4_096) });
    await expect.poll(() => receiver.connections.every(socket => socket.destroyed)).toBe(true);
  });
});
