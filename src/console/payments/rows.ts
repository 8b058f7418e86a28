import { formatKopecks, formatMicroUsdt } from '../../base/money.ts';
import type { PastChange } from '../../db/audit/index.ts';
import type { FoundPayment, PaymentTotals, TimelineEvent } from '../../payments/index.ts';
import {
  paymentRow as commonRow,
  deliveryItems,
  type TimelineItem as Item,
  inOrderOfTime,
  timelineItem,
} from '../../web/index.ts';
import type { DeliveryHistory } from '../../webhooks/index.ts';

export const paymentRow = (payment: FoundPayment) => ({
  ...commonRow(payment),
  partner_id: payment.partnerId,
  partner: payment.partnerName,
  qrc_id: payment.qrcId,
});

const states = ['succeeded', 'processing', 'manual_review', 'failed'];

/** Live and test money are never summed together. */
export const totalsRow = ({ totals, isComplete }: PaymentTotals) => ({
  totals: totals
    .map(({ mode, state, count, kopecks, microUsdt }) => ({
      mode,
      state,
      count,
      rub: formatKopecks(kopecks),
      usdt: formatMicroUsdt(microUsdt),
    }))
    .sort(
      (one, other) =>
        one.mode.localeCompare(other.mode) || states.indexOf(one.state) - states.indexOf(other.state),
    ),
  is_complete: isComplete,
});

export interface TimelineItem
  extends Item<'phase' | 'entry' | 'gateway' | 'event' | 'delivery' | 'operator'> {
  actor: string | null;
  /** The bodies of a call to the gateway, without headers; long ones are cut. */
  gateway_call: { request: string; response: string | null } | null;
  /** How many times in a row the gateway was asked and answered the same; `at` is the first time. */
  times: number;
  last_at: string | null;
}

interface PaymentHistory {
  status: string;
  /** Phases, ledger entries and calls to the gateway. */
  events: TimelineEvent[];
  deliveries: DeliveryHistory | undefined;
  /** What operators did, from the audit log. */
  changes: PastChange[];
}

const once = { actor: null, gateway_call: null, times: 1, last_at: null };

/** Everything that happened to a payment in one list, the oldest first. */
export const timelineOf = ({ status, events, deliveries, changes }: PaymentHistory): TimelineItem[] =>
  foldPolls(
    inOrderOfTime([
      ...events.map(({ at, durationMs, gatewayCall, omittedBefore, ...event }) => ({
        ...once,
        ...event,
        at: at.toISOString(),
        duration_ms: durationMs,
        gateway_call: gatewayCall,
        omittedBefore,
      })),
      ...(deliveries ? deliveryItems(deliveries, status) : []).map(item => ({ ...once, ...item })),
      ...changes.map(changeItem),
    ]),
  );

type Unfolded = TimelineItem & { omittedBefore?: number };

/** A payment may be polled hundreds of times: polls in a row with the same answer are one item, with the last answer. */
function foldPolls(items: Unfolded[]): TimelineItem[] {
  const folded: TimelineItem[] = [];
  for (const { omittedBefore = 0, ...item } of items) {
    const last = folded.at(-1);
    if (!last || !isSamePoll(last, item)) folded.push(item);
    else {
      const { at, duration_ms, gateway_call } = item;
      const times = last.times + omittedBefore + 1;
      Object.assign(last, { times, last_at: at, duration_ms, gateway_call });
    }
  }
  return folded;
}

const isSamePoll = (last: TimelineItem, item: TimelineItem) =>
  item.kind === 'gateway' &&
  item.what === 'poll' &&
  last.what === 'poll' &&
  JSON.stringify(last.facts) === JSON.stringify(item.facts);

const shownFacts = ['kind', 'outcome', 'status', 'reason', 'asked_by', 'decided_by', 'why'];

function changeItem({ at, actor, action, before, after }: PastChange): TimelineItem {
  const known: Record<string, unknown> = { ...(action.startsWith('request.') ? before : {}), ...after };
  const names = shownFacts.filter(name => known[name] !== undefined && known[name] !== null);
  const facts = Object.fromEntries(names.map(name => [name, `${known[name]}`]));
  return { ...once, ...timelineItem(at, 'operator', action, { facts }), actor };
}
