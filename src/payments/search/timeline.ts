import { uuidFromId } from '../../base/ids.ts';
import { formatKopecks, formatMicroUsdt } from '../../base/money.ts';
import { type Queryable, readRows } from '../../db/postgres/index.ts';
import { listCalls, type PastCall } from '../../gateway/index.ts';
import { findOperationNumber } from '../operation-numbers.ts';
import type { Payment } from '../payment.ts';
import type { PaymentForOperator } from '../recovery/operator-actions.ts';
import { listRefunds, type Refund } from '../refunds/refunded.ts';

/** Partners do not see since when support has it. */
type TimelinePayment = Payment & Partial<Pick<PaymentForOperator, 'supportSince'>>;

/** Something that happened to a payment. */
export interface TimelineEvent {
  at: Date;
  kind: 'phase' | 'entry' | 'gateway';
  what: string;
  /** By name; the console has a word for each. */
  facts: Record<string, string | number | null>;
  outcome: 'good' | 'bad' | 'open' | null;
  durationMs: number | null;
  gatewayCall: { request: string; response: string | null } | null;
  /** So many calls to the gateway before this one are left out. */
  omittedBefore: number;
}

const timelineEvent = (
  at: Date,
  kind: TimelineEvent['kind'],
  what: string,
  more: Partial<TimelineEvent> = {},
): TimelineEvent => ({
  at,
  kind,
  what,
  facts: {},
  outcome: null,
  durationMs: null,
  gatewayCall: null,
  omittedBefore: 0,
  ...more,
});

/** All events of a payment, here and at the gateway, in order of time. */
export async function paymentTimeline(db: Queryable, payment: TimelinePayment): Promise<TimelineEvent[]> {
  const [entries, calls, refunds, operationNumber] = await Promise.all([
    entriesOf(db, payment),
    listCalls(db, payment.paymentId),
    listRefunds(db, payment.paymentId),
    findOperationNumber(db, payment),
  ]);
  const events = [
    timelineEvent(payment.createdAt, 'phase', 'created'),
    ...entries,
    ...calls.map(callEvent),
    ...phasesOf(payment, calls, operationNumber),
    ...refunds.map(refundEvent),
  ];
  return events.sort((one, other) => one.at.getTime() - other.at.getTime());
}

/** The phases, from the calls that led to them: the payment itself only has its current status. */
function phasesOf(
  payment: TimelinePayment,
  calls: PastCall[],
  operationNumber: string | undefined,
): TimelineEvent[] {
  const { status, supportSince, settledAt, errorCode, gatewayOrderId } = payment;
  const phases: TimelineEvent[] = [];
  const firstAnsweredAt = (outcome: string) => {
    const call = calls.find(one => one.outcome === outcome && one.call !== 'resolve');
    return call && new Date(call.at.getTime() + call.durationMs);
  };
  const acceptedAt = firstAnsweredAt('accepted');
  if (acceptedAt)
    phases.push(timelineEvent(acceptedAt, 'phase', 'accepted', { facts: { order: gatewayOrderId } }));
  const unknownAt = firstAnsweredAt('unknown');
  if (unknownAt) phases.push(timelineEvent(unknownAt, 'phase', 'manual_review', { outcome: 'open' }));
  if (supportSince) phases.push(timelineEvent(supportSince, 'phase', 'with_support', { outcome: 'open' }));
  if (settledAt)
    phases.push(
      timelineEvent(settledAt, 'phase', status, {
        outcome: status === 'succeeded' ? 'good' : 'bad',
        facts: { error_code: errorCode, operation_number: operationNumber ?? null },
      }),
    );
  return phases;
}

const refundEvent = (refund: Refund): TimelineEvent =>
  timelineEvent(refund.bookedAt, 'entry', 'refund', {
    facts: {
      rub: formatKopecks(refund.amountKopecks),
      usdt: formatMicroUsdt(refund.amountMicroUsdt),
      entry: refund.entryNo === null ? null : `${refund.entryNo}`,
      refund: refund.refundId,
    },
  });

const good = new Set(['resolved', 'accepted', 'succeeded', 'voided']);

function callEvent(past: PastCall): TimelineEvent {
  const { at, call, durationMs, status, outcome, request, response, error, omittedBefore } = past;
  const isOpen = outcome === 'unknown';
  return timelineEvent(at, 'gateway', call, {
    facts: { result: outcome, http_status: status, error },
    outcome: isOpen ? 'open' : good.has(outcome) ? 'good' : 'bad',
    durationMs,
    gatewayCall: { request: request ?? '', response },
    omittedBefore,
  });
}

const entryKinds: Record<string, string> = {
  'available held': 'hold',
  'held settled': 'settle',
  'held available': 'release',
};

async function entriesOf(db: Queryable, { paymentId, partnerId, mode }: Payment): Promise<TimelineEvent[]> {
  const rows = await readRows<{ created_at: Date; kind: string; entry_no: bigint; micro_usdt: bigint }>(db, {
    text: `SELECT created_at, from_account || ' ' || to_account AS kind, entry_no, micro_usdt
             FROM entries_of_payment($1, $2, $3) ORDER BY entry_no`,
    values: [uuidFromId(partnerId), mode, uuidFromId(paymentId)],
  });
  return rows.map(row =>
    timelineEvent(row.created_at, 'entry', entryKinds[row.kind]!, {
      facts: { usdt: formatMicroUsdt(row.micro_usdt), entry: `${row.entry_no}` },
    }),
  );
}
