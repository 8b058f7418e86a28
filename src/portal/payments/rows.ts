import { formatKopecks, formatMicroUsdt, formatRate } from '../../base/money.ts';
import type { Payment, TimelineEvent } from '../../payments/index.ts';
import type { PaymentStatus } from '../../web/index.ts';
import { type DeliveryHistory, formatEventId } from '../../webhooks/index.ts';
import type { PaymentRow, TimelineItem } from '../shapes/payments.ts';

export const paymentRow = (payment: Payment): PaymentRow => ({
  payment_id: payment.paymentId,
  mode: payment.mode,
  status: payment.status as PaymentStatus,
  status_detail: payment.statusDetail,
  error_code: payment.errorCode,
  external_id: payment.externalId,
  recipient: payment.recipient,
  amount_rub: formatKopecks(payment.amountKopecks),
  amount_usdt: formatMicroUsdt(payment.microUsdt),
  rate: formatRate(payment.rateE4),
  created_at: payment.createdAt.toISOString(),
  settled_at: payment.settledAt?.toISOString() ?? null,
});

/** What a partner may see of the timeline of operators: not the calls to the gateway, not support, no ids of other systems. */
const shownPhases = new Set(['created', 'manual_review', 'succeeded', 'failed']);
const shownFacts = ['usdt', 'rub', 'error_code'];

export function timelineOf(
  status: string,
  events: TimelineEvent[],
  deliveries: DeliveryHistory | undefined,
): TimelineItem[] {
  const items = [
    ...events
      .filter(({ kind, what }) => kind === 'entry' || (kind === 'phase' && shownPhases.has(what)))
      .map(({ at, kind, what, facts, outcome }) =>
        item(at, kind as 'phase' | 'entry', what, {
          outcome,
          facts: Object.fromEntries(Object.entries(facts).filter(([name]) => shownFacts.includes(name))),
        }),
      ),
    ...(deliveries ? deliveryItems(deliveries, status) : []),
  ];
  return items.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
}

const item = (
  at: Date,
  kind: TimelineItem['kind'],
  what: string,
  more: Partial<TimelineItem> = {},
): TimelineItem => ({
  at: at.toISOString(),
  kind,
  what,
  facts: {},
  outcome: null,
  duration_ms: null,
  ...more,
});

function deliveryItems(
  { eventId, at, attempts, deliveries }: DeliveryHistory,
  status: string,
): TimelineItem[] {
  const items = [item(at, 'event', `payment.${status}`, { facts: { event: formatEventId(eventId) } })];
  for (const { attempt, at: triedAt, status: answered, error, durationMs } of attempts) {
    const isDelivered = answered !== null && answered >= 200 && answered < 300;
    items.push(
      item(triedAt, 'delivery', isDelivered ? 'delivered' : 'not_delivered', {
        facts: { attempt, http_status: answered, error },
        outcome: isDelivered ? 'good' : 'bad',
        duration_ms: durationMs,
      }),
    );
  }
  for (const { failedAt, nextAt, attempts: made } of deliveries)
    items.push(
      failedAt
        ? item(failedAt, 'delivery', 'given_up', { outcome: 'bad' })
        : item(nextAt, 'delivery', 'next_attempt', { facts: { attempt: made + 1 }, outcome: 'open' }),
    );
  return items;
}
