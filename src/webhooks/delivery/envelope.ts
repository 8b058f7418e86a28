import { hash } from 'node:crypto';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { findRow, type Queryable } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { formatInstant, paymentObject, type Refunded, type ShownPayment } from '../../payments/index.ts';

export type EventId = `evt_${string}`;

export interface Event {
  eventId: bigint;
  /** Finished, so its event never changes: that of its end has no refunds, whenever it is sent. */
  payment: ShownPayment;
  /** Set if it is the event of a refund. */
  refund?: RefundOfEvent | undefined;
}

export interface RefundOfEvent {
  at: Date;
  /** What was refunded of the payment, up to this refund. */
  total: Refunded;
}

export const formatEventId = (eventId: bigint): EventId => `evt_${eventId}`;

/** Undefined for a text that is no event id of this service. */
export function parseEventId(text: string): bigint | undefined {
  const digits = /^evt_([1-9]\d{0,17})$/.exec(text)?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

/** The part of an event that its headers need. */
export interface EventReference extends Pick<Event, 'eventId' | 'refund'> {
  payment: Pick<ShownPayment, 'paymentId' | 'status' | 'settledAt'>;
}

const eventKind = ({ payment, refund }: EventReference) => `payment.${refund ? 'refunded' : payment.status}`;
const eventAt = ({ payment, refund }: EventReference) => refund?.at ?? payment.settledAt!;

/** `further` is the endpoint, if it is not the first of its partner. */
export const eventHeaders = (event: EventReference, signature: string, further?: Id<'whe'>) => ({
  'content-type': 'application/json',
  'x-service-event': eventKind(event),
  'x-service-delivery': deliveryId(event, further),
  'x-service-payment-id': event.payment.paymentId,
  'x-service-signature': signature,
});

/** The body of a webhook, and an item of the feed: `data` is the payment as the API answers it at the time of the event. */
export function envelope(event: Event): string {
  const { eventId, payment, refund } = event;
  const head = JSON.stringify({
    id: formatEventId(eventId),
    event: eventKind(event),
    created_at: formatInstant(eventAt(event)),
  });
  return `${head.slice(0, -1)},"data":${paymentObject(payment, refund?.total)}}`;
}

/** Derived from event and endpoint, so that it is the same for every attempt, also when it is sent again much later. */
function deliveryId(event: EventReference, further?: Id<'whe'>): Id<'whd'> {
  const name = further ? `delivery ${event.eventId} ${further}` : `delivery ${event.eventId}`;
  const bytes = hash('sha256', name, 'buffer').subarray(0, 16);
  bytes.writeUIntBE(eventAt(event).getTime(), 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return idFromUuid('whd', bytes.toString('hex'));
}

/** Null in all columns: the event is the end of its payment. */
export interface RefundColumns {
  refund_at: Date | null;
  refund_kopecks: bigint | null;
  refund_micro_usdt: bigint | null;
}

/** What the event of a refund needs; `alias` is the name of `refunds` in the statement. */
export const refundColumns = (alias: string) =>
  `${alias}.booked_at AS refund_at, ${alias}.total_kopecks AS refund_kopecks, ${alias}.total_micro_usdt AS refund_micro_usdt`;

export const refundOf = (row: RefundColumns): RefundOfEvent | undefined =>
  row.refund_at === null
    ? undefined
    : { at: row.refund_at, total: { kopecks: row.refund_kopecks!, microUsdt: row.refund_micro_usdt! } };

/** The refund of an event; undefined if it is the end of a payment. */
export async function findRefundOf(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  eventId: bigint,
): Promise<RefundOfEvent | undefined> {
  const row = await findRow<RefundColumns>(db, {
    text: `SELECT ${refundColumns('r')} FROM refunds r WHERE r.partner_id = $1 AND r.mode = $2 AND r.event_id = $3`,
    values: [uuidFromId(partnerId), mode, eventId],
  });
  return row && refundOf(row);
}
