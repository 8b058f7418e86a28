/**
 * The minimal cost of an endpoint: the same framework and schema, with a constant answer. With `BANK` also that of a live payment
 * without its database and its rules: the same two calls to the gateway, over the same client.
 */
import Fastify from 'fastify';
import { ping } from '../src/api/account/routes.ts';
import { systemClock as clock } from '../src/base/clock.ts';
import { createAgent, readAnswer } from '../src/http-client/index.ts';

const server = Fastify();
server.get('/v1/ping', { schema: { response: { 200: ping.answer.schema } } }, () => ({
  ok: true,
  partner_id: 'prt_01m7ehqr39e00aq7xw60wbe32j',
  mode: 'test',
  api_version: '2026-11-14',
  request_id: 'req_01m7ehqr39e00aq7xw60wbe32j',
}));

const { agent } = createAgent({ maxConnections: 256, connectTimeoutMs: 5_000 });
const headers = { 'content-type': 'application/json' };

async function call(method: 'POST' | 'PUT', path: string, body: object): Promise<unknown> {
  const request = { origin: process.env.BANK!, path, method, headers, body: JSON.stringify(body) };
  const options = { clock, timeoutMs: 10_000, maxBytes: 64 * 1024 };
  const answer = await readAnswer(handler => agent.dispatch(request, handler), options);
  return JSON.parse(answer.body.toString());
}

server.post<{ Body: { qr_url: string } }>('/v1/payments', async ({ body }) => {
  const resolved = (await call('POST', '/qr/resolve', body)) as object;
  return {
    ...resolved,
    ...((await call('PUT', '/orders/1', { ...body, ...resolved })) as object),
    status: 'succeeded',
  };
});

console.log(`ready at ${await server.listen({ host: '127.0.0.1', port: 0 })}`);
