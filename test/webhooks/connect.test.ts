import { createSocket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';
import { afterAll, test as base, describe, expect, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { nextLoopTurn } from '../../src/db/batching/batch.ts';
import {
  type ConnectError,
  type ConnectorOptions,
  createConnector,
} from '../../src/webhooks/http/connect.ts';
import { createNameLookup, hasPrivateAddress } from '../../src/webhooks/http/dns.ts';
import { createSender } from '../../src/webhooks/http/sender.ts';
import { isPublicAddress } from '../../src/webhooks/http/ssrf-guard.ts';
import { startTcpReceiver } from '../helpers/tcp-receivers.ts';

const addresses = (...ips: string[]): LookupAddress[] =>
  ips.map(address => ({ address, family: address.includes(':') ? 6 : 4 }));

/** The address connected to, or the fault. */
function attempt(hostname: string, port: number, options: Partial<ConnectorOptions>): Promise<string> {
  const lookup = async () => addresses('127.0.0.1');
  const connect = createConnector({ isAllowed: isPublicAddress, lookup, timeoutMs: 60_000, ...options });
  return new Promise(resolve => {
    connect(
      { hostname, host: `${hostname}:${port}`, protocol: 'http:', port: `${port}` },
      (error, socket) => {
        if (error) return resolve((error as ConnectError).fault);
        resolve((socket as Socket).remoteAddress ?? '');
        socket.destroy();
      },
    );
  });
}
const test = base.extend('receiver', () => startTcpReceiver());

describe('only to allowed addresses', () => {
  test('what was checked is what is connected to, even if the name leads elsewhere a moment later', async () => {
    const receiver = await startTcpReceiver();
    const found = [addresses('127.0.0.1'), addresses('127.0.0.2')];
    let asked = 0;
    const options = {
      isAllowed: (ip: string) => ip === '127.0.0.1',
      lookup: async () => found[asked++]!,
    };
    expect(await attempt('hooks.example.com', receiver.port, options)).toBe('127.0.0.1');
    expect(asked).toBe(1);
    expect(await attempt('hooks.example.com', receiver.port, options)).toBe('blocked_address');
    expect(receiver.connections).toHaveLength(1);
  });

  test('the next address of a name is tried, and it was checked as well', async ({ receiver }) => {
    const checked: string[] = [];
    const isAllowed = (ip: string) => checked.push(ip) > 0;
    const lookup = async () => addresses('::1', '127.0.0.1');
    expect(await attempt('hooks.example.com', receiver.port, { isAllowed, lookup })).toBe('127.0.0.1');
    expect(checked).toEqual(['::1', '127.0.0.1', '127.0.0.1']);
  });

  test.each(['127.0.0.1', 'hooks.example.com'])('checks the open socket of %s once more', async host => {
    const receiver = await startTcpReceiver();
    // Simulates a hole in the first check: it passes one address.
    let checks = 0;
    const isAllowed = () => checks++ === 0;
    expect(await attempt(host, receiver.port, { isAllowed })).toBe('blocked_address');
    await expect.poll(() => receiver.connections.map(socket => socket.readableEnded)).toEqual([true]);
    expect(receiver.connections[0]?.bytesRead).toBe(0);
  });
});

describe('faults', () => {
  const isAllowed = () => true;

  test('a name without an address', async () => {
    expect(await attempt('hooks.example.com', 1, { isAllowed, lookup: async () => [] })).toBe('dns');
  });

  test('no listener at any of the addresses', async () => {
    const lookup = async () => addresses('127.0.0.1', '127.0.0.1');
    expect(await attempt('127.0.0.1', 1, { isAllowed })).toBe('refused');
    expect(await attempt('hooks.example.com', 1, { isAllowed, lookup })).toBe('refused');
  });

  test('an address that the name server returns too late is not connected to', async ({ receiver }) => {
    const late = Promise.withResolvers<LookupAddress[]>();
    onTestFinished(() => late.resolve([]));
    const options = { isAllowed, lookup: () => late.promise, timeoutMs: 50 };
    expect(await attempt('hooks.example.com', receiver.port, options)).toBe('timeout');
    late.resolve(addresses('127.0.0.1'));
    await nextLoopTurn();
    // The only connection is the one made after it.
    expect(await attempt('127.0.0.1', receiver.port, { isAllowed })).toBe('127.0.0.1');
    await expect.poll(() => receiver.connections.length).toBe(1);
  });
});

/** A name server of our own: every name of `answers` has that IPv4 address, `silent.…` gets no answer at all. */
const answers = new Map([
  ['inside.example.com', '127.0.0.1'],
  ['public.example.com', '93.184.216.34'],
]);
const server = createSocket('udp4');
server.on('message', (query, { port }) => {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += length + 1;
  }
  const name = labels.join('.');
  if (labels[0]!.startsWith('silent')) return;
  const question = query.subarray(12, at + 5);
  const address = query.readUInt16BE(at + 1) === 1 ? answers.get(name) : undefined;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(address || answers.has(name) ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(address ? 1 : 0, 6);
  header.fill(0, 8, 12);
  const record = address
    ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)])
    : Buffer.alloc(0);
  server.send(Buffer.concat([header, question, record]), port, '127.0.0.1');
});
await new Promise<void>(resolve => server.bind(0, '127.0.0.1', resolve));
afterAll(() => server.close());

const lookup = createNameLookup([`127.0.0.1:${server.address().port}`]);

test('a name has the addresses that its name server returns', async () => {
  expect(await lookup('public.example.com')).toEqual([{ address: '93.184.216.34', family: 4 }]);
  await expect(lookup('nobody.example.com')).rejects.toThrow('nobody.example.com has no address');
});

test('a name with a private address is detected when it is saved', async () => {
  const names = ['inside.example.com', 'public.example.com', 'nobody.example.com'];
  expect(await Promise.all(names.map(name => hasPrivateAddress(name, lookup)))).toEqual([true, false, false]);
});

test('a public name with a private address is not connected to', async ({ receiver: canary }) => {
  const sender = createSender({ clock: systemClock, allowPrivate: false, lookup });
  const sending = { url: `https://inside.example.com:${canary.port}/hook`, headers: {}, body: '{}' };
  expect(await sender.send(sending)).toMatchObject({ outcome: 'failed', error: 'blocked_address' });
  expect(canary.connections).toEqual([]);
  await sender.close();
});

test('name servers that do not answer delay no other name', async () => {
  const waiting = Array.from({ length: 50 }, (_, index) =>
    lookup(`silent${index}.example.com`).catch(() => 'none'),
  );
  const first = await Promise.race([lookup('public.example.com').then(() => 'answered'), ...waiting]);
  expect(first).toBe('answered');
});
