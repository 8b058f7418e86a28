import type { FastifyInstance } from 'fastify';
import { envelope, formatEventId, listEvents, parseEventId } from '../../webhooks/index.ts';
import type { ApiDeps } from '../deps.ts';
import { shapeError } from '../http/errors.ts';
import { sendJsonText } from '../http/responses.ts';
import * as schemas from './schemas.ts';

/** An addition to the contract: the webhook events as a list, for partners who cannot receive webhooks or were down. */
export function eventRoutes(server: FastifyInstance, deps: ApiDeps): void {
  server.get<{ Querystring: { limit: number; after?: string } }>(
    '/v1/events',
    { schema: schemas.listEventsOperation },
    async (request, reply) => {
      const { limit, after = 'evt_0' } = request.query;
      const afterId = after === 'evt_0' ? 0n : parseEventId(after);
      if (afterId === undefined)
        throw shapeError(
          ['query', 'after'],
          'Input should be the id of an event, such as evt_17',
          'event_id',
        );
      const { events, hasMore } = await listEvents(deps.db, request.caller, { after: afterId, limit });
      const last = events.at(-1);
      const rest = JSON.stringify({
        has_more: hasMore,
        // Without new events the reader's own cursor, so that it can always be stored.
        next_cursor: last ? formatEventId(last.eventId) : after,
        request_id: request.id,
      });
      return sendJsonText(reply, `{"data":[${events.map(envelope).join(',')}],${rest.slice(1)}`);
    },
  );
}
