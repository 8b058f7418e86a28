import type { FastifyInstance } from 'fastify';
import type { Queryable } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { envelope, findLastEvent, formatEventId, listEvents, parseEventId } from '../../webhooks/index.ts';
import type { ApiDeps } from '../deps.ts';
import { sendError, shapeError } from '../http/errors.ts';
import { sendJsonText } from '../http/responses.ts';
import * as schemas from './schemas.ts';

/** An addition to the contract: the webhook events as a list, for partners who cannot receive webhooks or were down. */
export function eventRoutes(server: FastifyInstance, deps: ApiDeps): void {
  server.get<{ Querystring: { limit: number; after?: string; extra_events?: 'payment.refunded' } }>(
    '/v1/events',
    { schema: schemas.listEventsOperation },
    async (request, reply) => {
      const { limit, after = 'evt_0', extra_events: extra } = request.query;
      const db = deps.reads.of(request.caller.partnerId);
      const position = await readPosition(db, request.caller, after);
      const page = await listEvents(db, request.caller, {
        after: position,
        limit,
        withRefunds: extra === 'payment.refunded',
      });
      if (!page) {
        await deps.confirmHistory();
        return sendError(request, reply, 'not_found');
      }
      const rest = JSON.stringify({
        has_more: page.hasMore,
        // Without new events the reader's own position, so that it can always be stored.
        next_cursor: formatEventId(page.cursor),
        request_id: request.id,
      });
      return sendJsonText(reply, `{"data":[${page.events.map(envelope).join(',')}],${rest.slice(1)}`);
    },
  );
}

async function readPosition(db: Queryable, caller: AccountKey, after: string): Promise<bigint> {
  if (after === 'evt_0') return 0n;
  if (after === 'latest') return findLastEvent(db, caller);
  const eventId = parseEventId(after);
  if (eventId !== undefined) return eventId;
  throw shapeError(['query', 'after'], 'Input should be the id of an event, such as evt_17', 'event_id');
}
