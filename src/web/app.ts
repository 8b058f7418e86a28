import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TooManyChangesError } from '../db/audit/index.ts';
import { isDatabaseUnavailable } from '../db/postgres/index.ts';
import type { WebApp } from './csrf.ts';
import { refuse, sendRefusal } from './replies.ts';
import { setSecurityHeaders } from './security-headers.ts';

const tooManyChanges = refuse(429, 'too_many_changes', 'Too many changes today: try again tomorrow (UTC).');
const unavailable = refuse(503, 'unavailable', 'The database is not responding: try later.');
const unknown = refuse(404, 'not_found', 'Page not found.');

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
    if (error instanceof TooManyChangesError) return sendRefusal(request, reply, tooManyChanges);
    if (!isDatabaseUnavailable(error)) throw error;
    log.error({ err: error, request_id: request.id }, `a request of the ${app} failed`);
    return sendRefusal(request, reply, unavailable);
  });
}

export const refuseUnknown = async (request: FastifyRequest, reply: FastifyReply) =>
  sendRefusal(request, reply, unknown);
