import Type from 'typebox';
import { parseId } from '../base/ids.ts';
import { parseInstant } from '../base/instants.ts';
import {
  type countFailed,
  type DeliveryFilter,
  type EventKind,
  formatEventId,
  maxResendBatch,
  parseEventId,
  type resendFailedOf,
} from '../webhooks/index.ts';
import { Instant, Mode, oneOf, readFields } from './fields.ts';

/** What lists of deliveries are filtered by in the console and in the portal. */
export const deliveryFields = {
  mode: Type.Optional(Mode),
  event: Type.Optional(oneOf('payment.succeeded', 'payment.failed', 'payment.refunded')),
  endpoint_id: Type.Optional(Type.String({ maxLength: 100 })),
  since: Type.Optional(Instant),
  until: Type.Optional(Instant),
};
const Fields = Type.Object(deliveryFields);

export const deliveryState = { state: Type.Optional(oneOf('pending', 'delivered', 'failed')) };

const kinds: Record<EventKind, NonNullable<DeliveryFilter['outcome']>> = {
  'payment.succeeded': 'succeeded',
  'payment.failed': 'failed',
  'payment.refunded': 'refunded',
};

/** Undefined when a field cannot be parsed. */
export const readDeliveryFilter = (query: Type.Static<typeof Fields>): DeliveryFilter | undefined =>
  readFields(read => ({
    mode: query.mode,
    outcome: query.event && kinds[query.event],
    endpointId: read(query.endpoint_id, text => parseId('whe', text)),
    from: read(query.since, parseInstant),
    before: read(query.until, parseInstant),
  }));

/** One batch of what failed: at most so many as were confirmed, from where the batch before ended. */
export const resendBatch = {
  max: Type.Integer({ minimum: 1, maximum: maxResendBatch }),
  after: Type.Optional(Type.String({ maxLength: 100 })),
};

/** Undefined: from the beginning. Null when it is none. */
export const readEventCursor = (text: string | undefined): bigint | undefined | null =>
  text === undefined ? undefined : (parseEventId(text) ?? null);

export const eventCursor = (next: bigint | null) => (next === null ? null : formatEventId(next));

export const failedCount = ({ count, isComplete }: Awaited<ReturnType<typeof countFailed>>) => ({
  count,
  // False: there are more than were counted.
  is_complete: isComplete,
});

export const resentBatch = ({ queued, next }: Awaited<ReturnType<typeof resendFailedOf>>) => ({
  queued,
  next_cursor: eventCursor(next),
});
