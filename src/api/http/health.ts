import type { FastifyInstance } from 'fastify';
import type { ApiDeps } from '../deps.ts';

/** `/healthz`: the process runs. `/readyz`: it can also reach the database. */
export function healthRoutes(
  server: FastifyInstance,
  { pool, heartbeat }: Pick<ApiDeps, 'pool' | 'heartbeat'>,
): void {
  const schema = { hide: true };
  const notReady = { ok: false, reason: 'the database does not answer' };
  server.get('/healthz', { schema }, () => ({ ok: true }));
  server.get('/readyz', { schema }, async (_request, reply) => {
    // A query to a database that does not answer would hang.
    if (!heartbeat.isDatabaseAnswering()) return reply.status(503).send(notReady);
    return pool.query('SELECT 1').then(
      () => ({ ok: true }),
      () => reply.status(503).send(notReady),
    );
  });
}
