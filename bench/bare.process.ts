/** The minimal cost of an endpoint: the same framework and schema, with a constant answer. */
import Fastify from 'fastify';
import { ping } from '../src/api/account/routes.ts';

const server = Fastify();
server.get('/v1/ping', { schema: { response: { 200: ping.answer.schema } } }, () => ({
  ok: true,
  partner_id: 'prt_01m7ehqr39e00aq7xw60wbe32j',
  mode: 'test',
  api_version: '2026-11-14',
  request_id: 'req_01m7ehqr39e00aq7xw60wbe32j',
}));
console.log(`ready at ${await server.listen({ host: '127.0.0.1', port: 0 })}`);
