import { formatKopecks, formatMicroUsdt, formatRate } from '../../base/money.ts';
import type { Payment, TimelineEvent } from '../../payments/index.ts';
import { deliveryItems, inOrderOfTime, type PaymentStatus, timelineItem } from '../../web/index.ts';
import type { DeliveryHistory } from '../../webhooks/index.ts';
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

export const timelineOf = (
  status: string,
  events: TimelineEvent[],
  deliveries: DeliveryHistory | undefined,
): TimelineItem[] =>
  inOrderOfTime([
    ...events
      .filter(({ kind, what }) => kind === 'entry' || (kind === 'phase' && shownPhases.has(what)))
      .map(({ at, kind, what, facts, outcome }) =>
        timelineItem(at, kind as 'phase' | 'entry', what, {
          outcome,
          facts: Object.fromEntries(Object.entries(facts).filter(([name]) => shownFacts.includes(name))),
        }),
      ),
    ...(deliveries ? deliveryItems(deliveries, status) : []),
  ]);
