import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDeps } from '../deps.ts';
import { sendError } from './errors.ts';

/**
 * Answers `not_found` for something that is not in the database. In the seconds after a fail-over this process may still read
 * the old primary, while the partner asks for something that another process has written to the new one: that is 503, since a
 * partner may take `not_found` for final.
 */
export async function sendNotOnRecord(
  { confirmHistory }: Pick<ApiDeps, 'confirmHistory'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await confirmHistory();
  return sendError(request, reply, 'not_found');
}
