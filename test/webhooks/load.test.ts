import type { LookupAddress } from 'node:dns';
import type { RequestListener } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createSender } from '../../src/webhooks/http/sender.ts';
import { manualClock } from '../helpers/clock.ts';
import { startHttpReceiver, startTcpReceiver } from '../helpers/tcp-receivers.ts';
import { answered, beyondReach, failed, local, senderWith, sendingTo } from './sending.ts';

const hang: RequestListener = request => void request.resume();
/** It reads requests and never answers. */
async function startSilentReceiver() {
  let arrived = 0;
  const receiver = await startHttpReceiver(request => request.resume().on('end', () => arrived++));
  return { ...receiver, arrived: () => arrived };
}

describe('many at once', () => {
  test('share a few connections, and all are answered', async () => {
    const receiver = await startHttpReceiver();
    const sender = senderWith({ maxSocketsPerHost: 8 });
    const verdicts = await Promise.all(Array.from({ length: 200 }, () => sender.send(local(receiver.port))));
    expect(verdicts).toEqual(verdicts.map(() => answered(200)));
    expect(receiver.connections.length).toBeLessThanOrEqual(8);
  });

  test('a receiver that hangs does not delay another', async () => {
    const silent = await startHttpReceiver(hang);
    const receiver = await startHttpReceiver();
    // Those that hang do so until the end of the test.
    const sender = senderWith({ maxSocketsPerHost: 4, timeoutMs: 60_000 });
    const leaving = new AbortController();
    const stuck = Array.from({ length: 50 }, () => sender.send(local(silent.port), leaving.signal));
    const ended = Promise.allSettled(stuck);
    expect(await sender.send(local(receiver.port))).toEqual(answered(200));
    const reason = new Error('leaving');
    leaving.abort(reason);
    expect(await ended).toEqual(stuck.map(() => ({ status: 'rejected', reason })));
  });

  test('all time out at a receiver that hangs, and leave nothing behind', async () => {
    const clock = manualClock();
    const silent = await startSilentReceiver();
    const timeoutMs = beyondReach;
    const sender = senderWith({ clock, maxSocketsPerHost: 4, timeoutMs });
    const stuck = Array.from({ length: 50 }, () => sender.send(local(silent.port)));
    await expect.poll(silent.arrived).toBe(4);
    await clock.advance(timeoutMs);
    await expect.poll(silent.arrived).toBe(8);
    await clock.advance(timeoutMs);
    // Four had a connection, four got one later; the others timed out in the queue.
    const errors = (await Promise.all(stuck)).map(it => it.outcome === 'failed' && it.error);
    expect(errors.filter(error => error === 'timeout')).toHaveLength(8);
    expect(errors.filter(error => error === 'busy')).toHaveLength(42);
    expect(silent.connections).toHaveLength(8);
    await expect.poll(() => silent.connections.every(socket => socket.destroyed)).toBe(true);
  });

  test('a request that waited for a connection has its full timeout', async () => {
    const clock = manualClock();
    const durationMs = beyondReach;
    const answers: (() => void)[] = [];
    const receiver = await startHttpReceiver((_request, response) => answers.push(() => response.end()));
    const sender = senderWith({ clock, maxSocketsPerHost: 1, timeoutMs: 1.8 * durationMs });
    const sends = [sender.send(local(receiver.port)), sender.send(local(receiver.port))];
    for (const nth of [1, 2]) {
      await expect.poll(() => answers.length).toBe(nth);
      await clock.advance(durationMs);
      answers[nth - 1]!();
    }
    expect(await Promise.all(sends)).toEqual(Array(2).fill({ ...answered(200), durationMs }));
  });
});

describe('idle connections', () => {
  test('no more connections than allowed over all hosts, and no host without one', async () => {
    const receivers = await Promise.all(Array.from({ length: 12 }, () => startHttpReceiver()));
    const sender = senderWith({ maxSockets: 5 });
    for (const { port } of receivers) expect(await sender.send(local(port))).toEqual(answered(200));
    const open = () => receivers.filter(({ connections }) => connections.some(socket => !socket.destroyed));
    await expect.poll(() => open().length).toBe(5);
    // The most recently used stay.
    expect(open()).toEqual(receivers.slice(-5));
    expect(sender.hosts).toBe(5);
    for (const socket of receivers.at(-1)!.connections) socket.destroy();
    await expect.poll(() => sender.hosts).toBe(4);
    // A dropped host is connected to again.
    expect(await sender.send(local(receivers[0]!.port))).toEqual(answered(200));
  });

  test('hosts with requests keep theirs', async () => {
    const held = Promise.withResolvers<void>();
    const slow = await startHttpReceiver((_request, response) => held.promise.then(() => response.end()));
    const receivers = await Promise.all([startHttpReceiver(), startHttpReceiver()]);
    const sender = senderWith({ maxSockets: 1 });
    const verdict = sender.send(local(slow.port));
    for (const { port } of receivers) expect(await sender.send(local(port))).toEqual(answered(200));
    held.resolve();
    expect(await verdict).toEqual(answered(200));
  });

  test('none for hosts that cannot be reached or hang up', async () => {
    const rude = await startTcpReceiver(socket => socket.destroy());
    const sender = senderWith();
    expect(await sender.send(local(1))).toEqual(failed('refused'));
    expect(await sender.send(local(rude.port))).toEqual(failed('closed'));
    await expect.poll(() => sender.hosts).toBe(0);
  });
});

describe('the end', () => {
  test('an abort ends a send at once, whether it waits or is under way', async () => {
    const silent = await startSilentReceiver();
    const sender = senderWith({ maxSocketsPerHost: 1 });
    const leaving = new AbortController();
    const sends = [1, 2, 3].map(() => sender.send(local(silent.port), leaving.signal));
    const results = Promise.allSettled(sends);
    await expect.poll(silent.arrived).toBe(1);
    const reason = new Error('leaving');
    leaving.abort(reason);
    expect(await results).toEqual(sends.map(() => ({ status: 'rejected', reason })));
    await expect.poll(() => silent.connections.every(socket => socket.destroyed)).toBe(true);
    expect(silent.arrived()).toBe(1);
    await expect(sender.send(local(silent.port), leaving.signal)).rejects.toBe(reason);
    await expect.poll(() => sender.hosts).toBe(0);
  });

  test('a request aborted before it had a connection is never sent', async () => {
    let received = 0;
    const receiver = await startHttpReceiver((_request, response) => {
      received++;
      response.end();
    });
    const name = Promise.withResolvers<LookupAddress[]>();
    const sender = senderWith({ lookup: () => name.promise });
    const leaving = new AbortController();
    const sending = sendingTo(`http://localhost:${receiver.port}/`);
    const send = sender.send(sending, leaving.signal);
    leaving.abort();
    await expect(send).rejects.toThrow('aborted');
    name.resolve([{ address: '127.0.0.1', family: 4 }]);
    await expect.poll(() => receiver.connections.length).toBe(1);
    // The next request uses the connection, and only that one is received.
    expect(await sender.send(sending)).toEqual(answered(200));
    expect(received).toBe(1);
    expect(receiver.connections).toHaveLength(1);
  });

  test('a signal shared by many requests has no listeners left', async () => {
    const receiver = await startHttpReceiver();
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const { signal } = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...given: unknown[]) => {
      listeners++;
      Reflect.apply(addEventListener, signal, given);
    };
    signal.removeEventListener = (...given: unknown[]) => {
      listeners--;
      Reflect.apply(removeEventListener, signal, given);
    };
    const silent = await startHttpReceiver(hang);
    const sender = senderWith({ maxSocketsPerHost: 1, timeoutMs: 100 });
    const ports = [...Array(40).fill(receiver.port), ...Array(5).fill(silent.port)];
    await Promise.all(ports.map(port => sender.send(local(port), signal)));
    await expect.poll(() => listeners).toBe(0);
    expect(warnings).toEqual([]);
  });

  test('close waits for requests under way, accepts no more, and leaves no connection', async () => {
    const held = Promise.withResolvers<void>();
    const receiver = await startHttpReceiver((_request, response) => held.promise.then(() => response.end()));
    const sender = createSender({ clock: systemClock, allowPrivate: true, maxSocketsPerHost: 1 });
    const sends = [sender.send(local(receiver.port)), sender.send(local(receiver.port))];
    const closed = Promise.all([sender.close(), sender.close()]);
    await expect(sender.send(local(receiver.port))).rejects.toThrow('The sender is closed.');
    held.resolve();
    await closed;
    expect(await Promise.all(sends)).toEqual([answered(200), answered(200)]);
    await expect.poll(() => receiver.connections.every(socket => socket.destroyed)).toBe(true);
  });
});
