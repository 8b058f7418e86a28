import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { Queryable } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { envelope, findLastEvent, formatEventId, listEvents, parseEventId } from '../../webhooks/index.ts';
import type { ApiDeps } from '../deps.ts';
import * as examples from '../docs/examples.ts';
import { endpoint, sendJsonList, serve } from '../http/endpoint.ts';
import { sendError, shapeError } from '../http/errors.ts';
import { instant, pageOf, pageSize } from '../shared-schemas.ts';

const listEventsEndpoint = endpoint({
  route: 'GET /v1/events',
  operationId: 'listEvents',
  tag: 'Optional',
  summary: 'The same events as webhooks, oldest first',
  description:
    'An addition to the contract. Store the id of the last event that you handled and pass it as `after`: you miss no event and get none twice. An id that is not an event of this partner and mode returns `not_found`. In test mode, so does the id of a deleted event if later events were deleted too: start again with `evt_0`.',
  querystring: Type.Object({
    limit: pageSize,
    after: Type.Optional(
      Type.String({
        description:
          'The id of the last event that you have; without it, or with `evt_0`, the list starts with the first event. `latest` returns the `next_cursor` for new events only',
        examples: ['evt_0'],
      }),
    ),
    extra_events: Type.Optional(
      Type.Enum(['payment.refunded'], {
        description: 'Optional. Also list events of this kind, which are not in the list otherwise',
      }),
    ),
  }),
  answer: {
    description: 'Events after the given one',
    schema: pageOf(
      Type.Object({
        id: Type.String({ pattern: '^evt_\\d+$', examples: ['evt_17'] }),
        event: Type.Enum(['payment.succeeded', 'payment.failed', 'payment.refunded'], {
          examples: ['payment.succeeded'],
        }),
        created_at: instant('Creation time', examples.events.succeeded.created_at),
        data: Type.Ref('Payment'),
      }),
      false,
      Type.String({
        description: 'Pass it as `after`, now or later; with `has_more` also if `data` is empty',
        examples: ['evt_18'],
      }),
    ),
    examples: examples.eventList,
  },
  errors: ['not_found'],
  malformed: examples.notAnInteger('query', 'limit'),
});

/** An addition to the contract: the webhook events as a list, for partners who cannot receive webhooks or were down. */
export function eventRoutes(server: FastifyInstance, deps: ApiDeps): void {
  serve(server, listEventsEndpoint, async (request, reply) => {
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
    return sendJsonList(reply, page.events.map(envelope), {
      has_more: page.hasMore,
      // Without new events the reader's own position, so that it can always be stored.
      next_cursor: formatEventId(page.cursor),
      request_id: request.id,
    });
  });
}

async function readPosition(db: Queryable, caller: AccountKey, after: string): Promise<bigint> {
  if (after === 'evt_0') return 0n;
  if (after === 'latest') return findLastEvent(db, caller);
  const eventId = parseEventId(after);
  if (eventId !== undefined) return eventId;
  throw shapeError(['query', 'after'], 'Input should be the id of an event, such as evt_17', 'event_id');
}
