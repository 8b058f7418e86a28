import type { LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type ConnectError,
  type ConnectorOptions,
  createConnector,
} from '../../src/webhooks/http/connect.ts';
import { isPublicAddress } from '../../src/webhooks/http/ssrf-guard.ts';
import { startTcpReceiver } from '../helpers/tcp-receivers.ts';

const addresses = (...ips: string[]): LookupAddress[] =>
  ips.map(address => ({ address, family: address.includes(':') ? 6 : 4 }));

/** The address connected to, or the fault. */
function attempt(hostname: string, port: number, options: Partial<ConnectorOptions>): Promise<string> {
  const lookup = async () => addresses('127.0.0.1');
  const connect = createConnector({ isAllowed: isPublicAddress, lookup, timeoutMs: 2_000, ...options });
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

describe('only to allowed addresses', () => {
  test.each(['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '0.0.0.0', '::1'])('%s itself', async ip => {
    const canary = await startTcpReceiver();
    expect(await attempt(ip, canary.port, {})).toBe('blocked_address');
    expect(canary.connections).toEqual([]);
  });

  test.each([
    ['loopback', ['127.0.0.1']],
    ['loopback in IPv6', ['::ffff:127.0.0.1']],
    ['loopback after a public address', ['93.184.215.14', '127.0.0.1']],
    ['loopback before a public address', ['127.0.0.1', '2606:4700::1111']],
    ['a private network', ['10.0.0.1']],
    ['the metadata service of a cloud', ['169.254.169.254']],
    ['an address with a zone id', ['fe80::1%lo']],
  ])('a name of %s', async (_kind, ips) => {
    const canary = await startTcpReceiver();
    const fault = await attempt('hooks.example.com', canary.port, { lookup: async () => addresses(...ips) });
    expect(fault).toBe('blocked_address');
    expect(canary.connections).toEqual([]);
  });

  test('what was checked is what is connected to, even if the name leads elsewhere a moment later', async () => {
    const receiver = await startTcpReceiver();
    const answers = [addresses('127.0.0.1'), addresses('127.0.0.2')];
    let asked = 0;
    const options = {
      isAllowed: (ip: string) => ip === '127.0.0.1',
      lookup: async () => answers[asked++]!,
    };
    expect(await attempt('hooks.example.com', receiver.port, options)).toBe('127.0.0.1');
    expect(asked).toBe(1);
    expect(await attempt('hooks.example.com', receiver.port, options)).toBe('blocked_address');
    expect(receiver.connections).toHaveLength(1);
  });

  test('the next address of a name is tried, and it was checked as well', async () => {
    const receiver = await startTcpReceiver();
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

  test('an unknown name, or one without an address', async () => {
    const unknown = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    };
    expect(await attempt('hooks.example.com', 1, { isAllowed, lookup: unknown })).toBe('dns');
    expect(await attempt('hooks.example.com', 1, { isAllowed, lookup: async () => [] })).toBe('dns');
  });

  test('a name server that does not answer', async () => {
    const lookup = () => new Promise<LookupAddress[]>(() => {});
    expect(await attempt('hooks.example.com', 1, { isAllowed, lookup, timeoutMs: 50 })).toBe('timeout');
  });

  test('no listener at any of the addresses', async () => {
    const lookup = async () => addresses('127.0.0.1', '127.0.0.1');
    expect(await attempt('127.0.0.1', 1, { isAllowed })).toBe('refused');
    expect(await attempt('hooks.example.com', 1, { isAllowed, lookup })).toBe('refused');
  });

  test('an address that the name server returns too late is not connected to', async () => {
    const receiver = await startTcpReceiver();
    const late = Promise.withResolvers<LookupAddress[]>();
    onTestFinished(() => late.resolve([]));
    const options = { isAllowed, lookup: () => late.promise, timeoutMs: 50 };
    expect(await attempt('hooks.example.com', receiver.port, options)).toBe('timeout');
    late.resolve(addresses('127.0.0.1'));
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(receiver.connections).toEqual([]);
  });
});
