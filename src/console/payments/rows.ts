import { formatKopecks, formatMicroUsdt, formatRate } from '../../base/money.ts';
import type { PastChange } from '../../db/audit.ts';
import type { FoundPayment, TimelineEvent } from '../../payments/index.ts';
import { type DeliveryHistory, formatEventId } from '../../webhooks/index.ts';
import type { PaymentStatus } from '../shapes/common.ts';
import type { PaymentRow, TimelineItem } from '../shapes/payments.ts';

export const paymentRow = (payment: FoundPayment): PaymentRow => ({
  payment_id: payment.paymentId,
  partner_id: payment.partnerId,
  partner: payment.partnerName,
  mode: payment.mode,
  status: payment.status as PaymentStatus,
  status_detail: payment.statusDetail,
  error_code: payment.errorCode,
  external_id: payment.externalId,
  recipient: payment.recipient,
  qrc_id: payment.qrcId,
  amount_rub: formatKopecks(payment.amountKopecks),
  amount_usdt: formatMicroUsdt(payment.microUsdt),
  rate: formatRate(payment.rateE4),
  created_at: payment.createdAt.toISOString(),
  settled_at: payment.settledAt?.toISOString() ?? null,
});

/** What happened here and at the bank side, on the way to the partner, and by operators, as one story. */
export function timelineOf(
  happenings: TimelineEvent[],
  status: string,
  story: DeliveryHistory | undefined,
  changes: PastChange[],
): TimelineItem[] {
  const items = [
    ...happenings.map(
      ({ at, durationMs, ...told }): TimelineItem => ({
        ...told,
        at: at.toISOString(),
        actor: null,
        duration_ms: durationMs,
      }),
    ),
    ...(story ? tellStory(story, status) : []),
    ...changes.map(tellChange),
  ];
  return items.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
}

const item = (
  at: Date,
  kind: TimelineItem['kind'],
  what: string,
  more: Partial<TimelineItem>,
): TimelineItem => ({
  at: at.toISOString(),
  kind,
  what,
  detail: null,
  outcome: null,
  actor: null,
  duration_ms: null,
  exchange: null,
  ...more,
});

function tellStory({ eventId, at, attempts, delivery }: DeliveryHistory, status: string): TimelineItem[] {
  const told = [item(at, 'event', `payment.${status}`, { detail: formatEventId(eventId) })];
  for (const { attempt, at: triedAt, status: answered, error, durationMs } of attempts) {
    const delivered = answered !== null && answered >= 200 && answered < 300;
    told.push(
      item(triedAt, 'delivery', delivered ? 'delivered' : 'not_delivered', {
        detail: [`attempt ${attempt}`, answered === null ? null : `status ${answered}`, error]
          .filter(Boolean)
          .join(', '),
        outcome: delivered ? 'good' : 'bad',
        duration_ms: durationMs,
      }),
    );
  }
  if (delivery?.failedAt) told.push(item(delivery.failedAt, 'delivery', 'given_up', { outcome: 'bad' }));
  else if (delivery)
    told.push(
      item(delivery.nextAt, 'delivery', 'next_attempt', {
        detail: `attempt ${delivery.attempts + 1}`,
        outcome: 'open',
      }),
    );
  return told;
}

const worthTelling = ['kind', 'outcome', 'status', 'reason', 'asked_by', 'decided_by', 'why'];

function tellChange({ at, actor, action, before, after }: PastChange): TimelineItem {
  const facts: Record<string, unknown> = { ...(action.startsWith('request.') ? before : {}), ...after };
  const detail = worthTelling
    .filter(name => facts[name] !== undefined && facts[name] !== null)
    .map(name => `${name}: ${facts[name]}`)
    .join(', ');
  return item(at, 'operator', action, { actor, detail: detail || null });
}
