import type { FastifyInstance } from 'fastify';
import { parseId } from '../../base/ids.ts';
import { keySetObject, keySetPath } from '../../webhooks/index.ts';
import type { ApiDeps } from '../deps.ts';
import { sendError } from './errors.ts';

const keptSec = 5;

/**
 * The public keys with which webhooks of a partner are signed. Not under `/v1`, and without a key: others verify signatures too.
 * They are derived, so the database is not asked whether there is such a partner, and the answer does not tell.
 */
export function webhookKeyRoute(server: FastifyInstance, { signingKeys }: ApiDeps): void {
  server.get(
    keySetPath({ partnerId: ':partner_id', mode: ':mode' }),
    { schema: { hide: true } },
    async (request, reply) => {
      const { partner_id, mode } = request.params as { partner_id: string; mode: string };
      const partnerId = parseId('prt', partner_id);
      if (!partnerId || (mode !== 'live' && mode !== 'test')) return sendError(request, reply, 'not_found');
      void reply.header('cache-control', `public, max-age=${keptSec}`);
      const keys = await signingKeys.listPublic({ partnerId, mode });
      return { ...keySetObject({ partnerId, mode }, keys), request_id: request.id };
    },
  );
}
