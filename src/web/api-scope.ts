import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TooManyChangesError } from '../db/audit/index.ts';
import { isDatabaseUnavailable } from '../db/postgres/index.ts';
import type { WebApp } from './csrf.ts';
import { refuse } from './replies.ts';
import { setSecurityHeaders } from './security-headers.ts';

/** What all answers of the API behind the pages have in common: headers, and 503 while the database does not respond. */
export function prepareApiScope(
  scope: FastifyInstance,
  app: WebApp,
  { log }: { log: { error(details: object, message: string): void } },
): void {
  scope.addHook('onSend', async (_request, reply) => {
    setSecurityHeaders(reply);
    reply.header('Cache-Control', 'no-store');
  });
  scope.setErrorHandler((error, request, reply) => {
    if (error instanceof TooManyChangesError)
      return refuse(
        request,
        reply,
        429,
        'too_many_changes',
        'Too many changes today: try again tomorrow (UTC).',
      );
    if (!isDatabaseUnavailable(error)) throw error;
    log.error({ err: error, request_id: request.id }, `a request of the ${app} failed`);
    return refuse(request, reply, 503, 'unavailable', 'The database is not responding: try later.');
  });
}

export const refuseUnknown = async (request: FastifyRequest, reply: FastifyReply) =>
  refuse(request, reply, 404, 'not_found', 'Page not found.');
