import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { checkWebhookUrl } from '../../src/webhooks/http/ssrf-guard.ts';
import { createAuthority, issueSelfSigned } from '../helpers/certificates.ts';
import { startHttpReceiver, startTcpReceiver, startTlsReceiver } from '../helpers/tcp-receivers.ts';
import { words } from '../helpers/words.ts';
import {
  answered,
  body,
  expectNothingUncaught,
  failed,
  headers,
  leadsTo,
  local,
  senderWith,
  sendingTo,
} from './sending.ts';

expectNothingUncaught();

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

  test.each([200, 201, 299, 400, 404, 410, 429, 500, 503])('status %d is reported as it is', async status => {
    const receiver = await startHttpReceiver((_request, response) => response.writeHead(status).end('text'));
    // Of a body that accompanies no 2xx, the beginning is kept.
    const body = status < 300 ? {} : { body: 'text' };
    expect(await senderWith().send(local(receiver.port))).toEqual({ ...answered(status), ...body });
  });

  test.each([301, 302, 303, 307, 308])('a redirect (%d) is an answer and is not followed', async status => {
    const canary = await startHttpReceiver();
    const location = `http://127.0.0.1:${canary.port}/inside`;
    const receiver = await startHttpReceiver((_request, response) =>
      response.writeHead(status, { location }).end(),
    );
    expect(await senderWith().send(local(receiver.port))).toEqual(answered(status));
    expect(canary.connections).toEqual([]);
  });

  test('an invalid header is our mistake, and uses no connection', async () => {
    const receiver = await startHttpReceiver();
    const sender = senderWith({ maxSocketsPerHost: 1 });
    const bad = { ...local(receiver.port), headers: { 'x-service-event': 'a\r\nb: c' } };
    await expect(sender.send(bad)).rejects.toThrow('Invalid character in header content');
    await expect(sender.send(sendingTo('no url'))).rejects.toThrow('Invalid URL');
    expect(await sender.send(local(receiver.port))).toEqual(answered(200));
  });
});

describe('the SSRF guard', () => {
  const hosts = words(`127.0.0.1 127.1 2130706433 0x7f.1 0177.0.0.1 ①②⑦.0.0.1 127.0.0.1. 0.0.0.0 [::1]
    [::ffff:127.0.0.1] [::ffff:7f00:1] localhost localhost. a.localhost`);
  test.each(hosts)('at %s', async host => {
    const canary = await startTcpReceiver();
    const sender = senderWith({ allowPrivate: false });
    for (const start of ['https', 'http']) {
      const sending = sendingTo(`${start}://${host}:${canary.port}/`);
      expect(await sender.send(sending)).toEqual(failed('blocked_address'));
    }
    expect(canary.connections).toEqual([]);
    expect(sender.hosts).toBe(0);
  });

  test.each([
    ['loopback', ['127.0.0.1']],
    ['loopback, mapped', ['::ffff:7f00:1']],
    ['loopback after a public address', ['93.184.215.14', '127.0.0.1']],
    ['loopback before a public address', ['127.0.0.1', '2606:4700::1111']],
    ['a private network', ['10.1.2.3']],
    ['the metadata service of a cloud', ['169.254.169.254']],
    ['an address with a zone id', ['fe80::1%lo']],
  ])('by a name that leads to %s since it was saved', async (_kind, ips) => {
    const canary = await startTcpReceiver();
    const url = `https://hooks.example.com:${canary.port}/`;
    expect(checkWebhookUrl(url, { allowPrivate: false })).toMatchObject({ outcome: 'ok' });
    const sender = senderWith({ allowPrivate: false, lookup: leadsTo(...ips) });
    expect(await sender.send(sendingTo(url))).toEqual(failed('blocked_address'));
    expect(canary.connections).toEqual([]);
  });

  const others = words('http://hooks.example.com:8080/ https://hooks.example.com:22/ https://hooks.local/');
  test.each(others)('%s was perhaps saved under other settings', async url => {
    const lookup = vi.fn(leadsTo('93.184.215.14'));
    const sender = senderWith({ allowPrivate: false, lookup });
    expect(await sender.send(sendingTo(url))).toEqual(failed('blocked_address'));
    expect(lookup).not.toHaveBeenCalled();
  });

  test('a user name in the URL is not sent', async () => {
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

  test('a receiver with a valid certificate is sent to, and the certificate is reported', async () => {
    const receiver = await startTlsReceiver(proper);
    // A send waits until the connection has read the last answer.
    const sender = senderWith({ lookup, ca, maxSocketsPerHost: 1 });
    const tls = { protocol: 'TLSv1.3', validUntil: validUntil.toISOString() };
    expect(await sender.send(named(receiver.port))).toEqual({ ...answered(200), tls });
    expect(await sender.send(named(receiver.port))).toEqual({ ...answered(200), tls });
    expect(receiver.connections).toHaveLength(1);
    // The second connection is verified like the first.
    for (const socket of receiver.connections) socket.destroy();
    await expect.poll(() => sender.hosts).toBe(0);
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

  test('a receiver that does not answer the handshake, or hangs up', async () => {
    const silent = await startTcpReceiver();
    const impatient = senderWith({ lookup, ca, timeoutMs: 150 });
    expect(await impatient.send(named(silent.port))).toEqual(failed('timeout'));
    const rude = await startTcpReceiver(socket => socket.destroy());
    expect(await senderWith({ lookup, ca }).send(named(rude.port))).toEqual(failed('closed'));
  });
});
