import Type from 'typebox';
import * as examples from '../docs/examples.ts';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { instant, requestId } from '../shared-schemas.ts';

const EventQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  after: Type.Optional(
    Type.String({
      description:
        'The id of the last event that you have; without it, or with `evt_0`, the list starts with the first event. `latest` returns the `next_cursor` for new events only',
      examples: ['evt_0'],
    }),
  ),
  extra_events: Type.Optional(
    Type.Enum(['payment.refunded'], {
      description: 'Addition. Also list events of this kind, which are not in the list otherwise',
    }),
  ),
});

const EventList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String({ pattern: '^evt_\\d+$', examples: ['evt_17'] }),
      event: Type.Enum(['payment.succeeded', 'payment.failed', 'payment.refunded'], {
        examples: ['payment.succeeded'],
      }),
      created_at: instant('Creation time', examples.events.succeeded.created_at),
      data: Type.Ref('Payment'),
    }),
  ),
  has_more: Type.Boolean({ examples: [false] }),
  next_cursor: Type.String({
    description: 'Pass it as `after`, now or later; with `has_more` also if `data` is empty',
    examples: ['evt_18'],
  }),
  request_id: requestId,
});

export const listEventsOperation = {
  operationId: 'listEvents',
  tags: ['Additions'],
  summary: 'The same events as webhooks, oldest first',
  description:
    'An addition to the contract. Store the id of the last event that you handled and pass it as `after`: you miss no event and get none twice. An id that is not an event of this partner and mode returns `not_found`. In test mode, so does the id of a deleted event if later events were deleted too: start again with `evt_0`.',
  security: apiKeySecurity,
  querystring: EventQuery,
  response: responses(
    { description: 'Events after the given one', schema: EventList, examples: examples.eventList },
    ['not_found'],
    examples.notAnInteger('query', 'limit'),
  ),
};
