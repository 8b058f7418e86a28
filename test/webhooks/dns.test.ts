import { createSocket } from 'node:dgram';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createNameLookup, hasPrivateAddress } from '../../src/webhooks/http/dns.ts';
import { createSender } from '../../src/webhooks/http/sender.ts';
import { startTcpReceiver } from '../helpers/tcp-receivers.ts';

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

test('a public name with a private address is not connected to', async () => {
  const canary = await startTcpReceiver();
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
