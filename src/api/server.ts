import Fastify, { type FastifyInstance, LogController } from 'fastify';
import { errors } from '../base/errors.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import type { Queryable } from '../db/pool.ts';

/** The HTTP door. For now it tells only whether the service lives and whether its database answers. */
export function createServer({ logLevel }: Settings, db: Queryable): FastifyInstance {
  const logController = new LogController({ disableRequestLogging: true });
  const server = Fastify({ logger: { level: logLevel }, logController });
  server.get('/healthz', () => ({ ok: true }));
  server.get('/readyz', async (_request, reply) => {
    try {
      await db.query({ text: 'SELECT 1' });
      return { ok: true };
    } catch {
      return reply.status(503).send({ ok: false, reason: 'the database does not answer' });
    }
  });
  server.setNotFoundHandler((_request, reply) => {
    const { status, message } = errors.not_found;
    return reply.status(status).send({ error: { code: 'not_found', message } });
  });
  return server;
}

export async function listen(server: FastifyInstance, { host, port }: Settings): Promise<string> {
  try {
    return await server.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = {
      EADDRINUSE: `PORT ${port} on ${host} is in use: stop the program that has it, or set PORT to another.`,
      EACCES: `PORT ${port} needs more rights than this user has: set PORT above 1023.`,
      EADDRNOTAVAIL: `HOST ${host} is not an address of this machine: correct it.`,
      ENOTFOUND: `HOST ${host} is not an address of this machine: correct it.`,
    };
    throw code && reasons[code] ? new OperatorError(reasons[code]) : error;
  }
}
