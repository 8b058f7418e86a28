import { hash } from 'node:crypto';
import { type Id, idFromUuid } from '../../base/ids.ts';
import { formatInstant, type Payment, paymentObject } from '../../payments/index.ts';

export type EventId = `evt_${string}`;

export interface Event {
  eventId: bigint;
  /** Finished: what its event says never changes. */
  payment: Payment;
}

export const formatEventId = (eventId: bigint): EventId => `evt_${eventId}`;

/** Reads what somebody typed or sent; undefined for what this service could not have issued. */
export function parseEventId(text: string): bigint | undefined {
  const digits = /^evt_([1-9]\d{0,17})$/.exec(text)?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

/** As much of an event as its headers tell. */
export interface Announced {
  eventId: bigint;
  payment: Pick<Payment, 'paymentId' | 'status' | 'settledAt'>;
}

const eventKind = ({ payment }: Announced) => `payment.${payment.status}`;

/** What goes with the bytes, whoever sends them. */
export const eventHeaders = (event: Announced, signature: string) => ({
  'content-type': 'application/json',
  'x-service-event': eventKind(event),
  'x-service-delivery': deliveryId(event),
  'x-service-payment-id': event.payment.paymentId,
  'x-service-signature': signature,
});

/** The bytes that are sent, and that the feed shows: `data` is what the API answers about the payment. */
export function envelope(event: Event): string {
  const { eventId, payment } = event;
  const head = JSON.stringify({
    id: formatEventId(eventId),
    event: eventKind(event),
    created_at: formatInstant(payment.settledAt!),
  });
  return `${head.slice(0, -1)},"data":${paymentObject(payment)}}`;
}

/** The same for every attempt at an event, also when it is sent again much later; so it follows from the event. */
function deliveryId({ eventId, payment }: Announced): Id<'whd'> {
  const bytes = hash('sha256', `delivery ${eventId}`, 'buffer').subarray(0, 16);
  bytes.writeUIntBE(payment.settledAt!.getTime(), 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return idFromUuid('whd', bytes.toString('hex'));
}
