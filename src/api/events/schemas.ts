import Type from 'typebox';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { instant, requestId } from '../shared-schemas.ts';

const EventQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  after: Type.Optional(
    Type.String({
      description:
        'The id of the last event that you have; without it, or with `evt_0`, the list begins with the first. `latest` gives the `next_cursor` from which on only new events come',
      examples: ['evt_17'],
    }),
  ),
});

const EventList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String({ pattern: '^evt_\\d+$', examples: ['evt_17'] }),
      event: Type.Enum(['payment.succeeded', 'payment.failed']),
      created_at: instant('When it happened'),
      data: Type.Ref('Payment'),
    }),
  ),
  has_more: Type.Boolean(),
  next_cursor: Type.String({ description: 'Pass it as `after`, now or later', examples: ['evt_17'] }),
  request_id: requestId,
});

export const listEventsOperation = {
  operationId: 'listEvents',
  tags: ['Additions'],
  summary: 'The same events as webhooks, oldest first',
  description:
    'An addition to the contract. Remember the id of the last event that you have handled and pass it as `after`: you miss none and get none twice. An id that is not an event of this partner and mode is `not_found`. So is, in test mode, the id of a deleted event after which others were deleted too: begin again with `evt_0`.',
  security: apiKeySecurity,
  querystring: EventQuery,
  response: responses(EventList, ['not_found']),
};
