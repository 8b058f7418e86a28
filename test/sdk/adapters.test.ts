import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { afterAll, describe, expect, test } from 'vitest';
import { kopeckWebhook as forExpress } from '../../sdk/src/express.ts';
import { kopeckWebhook as forFastify } from '../../sdk/src/fastify.ts';
import { kopeckWebhook as forHono } from '../../sdk/src/hono.ts';
import type { PaymentEvent } from '../../sdk/src/index.ts';
import { kopeckWebhook as forNext } from '../../sdk/src/next.ts';
import { sign } from '../../src/webhooks/delivery/signatures.ts';
import { listen } from '../helpers/local-server.ts';

const secret = 'whsec_0123456789abcdef';
// Formatted in a way that no serialiser would produce again.
const body =
  '{ "id":"evt_17",  "event":"payment.succeeded", "data":{"recipient":"\\u041e\\u041e\\u041e «Ромашка»"}}';

const received: PaymentEvent[] = [];
const options = {
  secret,
  onEvent: async (event: PaymentEvent) => {
    if (event.id === 'evt_666') throw new Error('the handler failed');
    received.push(event);
  },
};

const app = express();
app.post('/kopeck', forExpress(options));
app.post('/raw', express.raw({ type: '*/*' }), forExpress(options));
app.use(express.json());
app.post('/parsed', forExpress(options));
app.post('/other', (request, response) => void response.json(request.body));
app.use(
  (error: Error & { status?: number }, _request: unknown, response: express.Response, _next: unknown) => {
    response.status(error.status ?? 500).json({ failed: error.message });
  },
);
const expressUrl = await listen(app);

const fastify = Fastify();
fastify.register(forFastify, { path: '/kopeck', ...options });
fastify.post('/other', async request => request.body);
const fastifyUrl = await fastify.listen({ host: '127.0.0.1', port: 0 });
afterAll(() => fastify.close());

const hono = new Hono().onError((error, context) => context.text(error.message, 500));
hono.post('/kopeck', forHono(options));
const POST = forNext(options);

type Send = (body: string, headers: Record<string, string>) => Promise<Response>;
const to =
  (url: string): Send =>
  (body, headers) =>
    fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
const adapters: Record<string, Send> = {
  Express: to(`${expressUrl}/kopeck`),
  'Express behind express.raw': to(`${expressUrl}/raw`),
  Fastify: to(`${fastifyUrl}/kopeck`),
  Hono: async (body, headers) => hono.request('/kopeck', { method: 'POST', body, headers }),
  // As a route handler gets it.
  Next: (body, headers) =>
    POST(new Request('https://shop.example/kopeck', { method: 'POST', body, headers })),
};

const signed = (text: string, atSec = Math.floor(Date.now() / 1_000)) => ({
  'x-service-signature': sign([secret], atSec, text),
});

describe.each(Object.entries(adapters))('%s', (name, send) => {
  test('passes a signed event on and answers 200', async () => {
    received.length = 0;
    const response = await send(body, signed(body));
    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
    expect(received).toEqual([JSON.parse(body)]);
  });

  test('refuses the rest', async () => {
    received.length = 0;
    const old = Math.floor(Date.now() / 1_000) - 400;
    for (const [headers, code] of [
      [{}, 'signature_missing'],
      [{ 'x-service-signature': 'nonsense' }, 'signature_malformed'],
      [signed(`${body} `), 'signature_mismatch'],
      [signed(body, old), 'timestamp_out_of_tolerance'],
    ] as const) {
      const response = await send(body, headers);
      expect([response.status, await response.json()]).toMatchObject([400, { error: { code } }]);
    }
    expect(received).toEqual([]);
  });

  test('refuses a body larger than any webhook', async () => {
    const large = `"${'x'.repeat(2 * 1024 * 1024)}"`;
    // A server may also close the connection while the client is still sending.
    const status = await send(large, signed(large)).then(
      response => response.status,
      () => 413,
    );
    expect(status).toBe(413);
  });

  test('answers 500 when the handler fails, so that the event is sent again', async () => {
    const failing = body.replace('evt_17', 'evt_666');
    if (name === 'Next') return expect(send(failing, signed(failing))).rejects.toThrow('the handler failed');
    expect((await send(failing, signed(failing))).status).toBe(500);
  });
});

test('Express reports that the body was parsed before', async () => {
  const response = await to(`${expressUrl}/parsed`)(body, signed(body));
  expect([response.status, await response.json()]).toMatchObject([
    500,
    { failed: expect.stringContaining('before express.json()') },
  ]);
});

test('other paths keep their parsers', async () => {
  for (const url of [expressUrl, fastifyUrl])
    expect(await (await to(`${url}/other`)('{"a":1}', {})).json()).toEqual({ a: 1 });
});
