import type { FastifyInstance } from 'fastify';
import { envelope, formatEventId, listEvents, parseEventId } from '../webhooks/index.ts';
import type { ApiDeps } from './deps.ts';
import { shapeError } from './errors.ts';
import { responses } from './responses.ts';
import * as schemas from './schemas.ts';

/** An addition to the contract: what webhooks send, for whoever cannot receive or was down. */
export function eventRoutes(server: FastifyInstance, deps: ApiDeps): void {
  server.get<{ Querystring: { limit: number; after?: string } }>(
    '/v1/events',
    {
      schema: {
        operationId: 'listEvents',
        tags: ['Additions'],
        summary: 'The same events as webhooks, oldest first',
        description:
          'An addition to the contract. Remember the id of the last event that you have handled and pass it as `after`: you will miss none and get none twice.',
        security: [{ apiKey: [] }],
        querystring: schemas.EventQuery,
        response: responses(schemas.EventList, []),
      },
    },
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
        // With nothing new it is where the reader stands, so that it can be stored as it comes.
        next_cursor: last ? formatEventId(last.eventId) : after,
        request_id: request.id,
      });
      return reply
        .type('application/json; charset=utf-8')
        .send(`{"data":[${events.map(envelope).join(',')}],${rest.slice(1)}`);
    },
  );
}
