import { uuidFromId } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import type { Queryable } from '../db/pool.ts';
import { listCalls, type PastCall } from '../gateway/index.ts';
import type { WatchedPayment } from './operate.ts';

/** Something that happened to a payment. */
export interface Happening {
  at: Date;
  kind: 'phase' | 'entry' | 'gateway';
  what: string;
  detail: string | null;
  outcome: 'good' | 'bad' | 'open' | null;
  durationMs: number | null;
  exchange: { request: string; response: string | null } | null;
}

const happening = (
  at: Date,
  kind: Happening['kind'],
  what: string,
  more: Partial<Happening> = {},
): Happening => ({
  at,
  kind,
  what,
  detail: null,
  outcome: null,
  durationMs: null,
  exchange: null,
  ...more,
});

/** What became of a payment here and at the bank side, in order. */
export async function tellPayment(db: Queryable, payment: WatchedPayment): Promise<Happening[]> {
  const [entries, calls] = await Promise.all([entriesOf(db, payment), listCalls(db, payment.paymentId)]);
  const told = [
    happening(payment.createdAt, 'phase', 'created'),
    ...entries,
    ...calls.map(tellCall),
    ...phasesOf(payment, calls),
  ];
  return told.sort((one, other) => one.at.getTime() - other.at.getTime());
}

/** What the calls brought about; the payment itself only remembers how it stands. */
function phasesOf(payment: WatchedPayment, calls: PastCall[]): Happening[] {
  const { status, supportSince, settledAt, errorCode, gatewayOrderId } = payment;
  const phases: Happening[] = [];
  const firstTold = (outcome: string) => {
    const call = calls.find(one => one.outcome === outcome && one.call !== 'resolve');
    return call && new Date(call.at.getTime() + call.durationMs);
  };
  const acceptedAt = firstTold('accepted');
  if (acceptedAt) phases.push(happening(acceptedAt, 'phase', 'accepted', { detail: gatewayOrderId }));
  const unknownAt = firstTold('unknown');
  if (unknownAt) phases.push(happening(unknownAt, 'phase', 'manual_review', { outcome: 'open' }));
  if (supportSince) phases.push(happening(supportSince, 'phase', 'with_support', { outcome: 'open' }));
  if (settledAt)
    phases.push(
      happening(settledAt, 'phase', status, {
        outcome: status === 'succeeded' ? 'good' : 'bad',
        detail: errorCode,
      }),
    );
  return phases;
}

const good = new Set(['resolved', 'accepted', 'succeeded', 'voided']);

function tellCall({ at, call, durationMs, status, outcome, request, response, error }: PastCall): Happening {
  const isOpen = outcome === 'unknown';
  return happening(at, 'gateway', call, {
    detail: [outcome, status === null ? null : `status ${status}`, error].filter(Boolean).join(', '),
    outcome: isOpen ? 'open' : good.has(outcome) ? 'good' : 'bad',
    durationMs,
    exchange: { request: request ?? '', response },
  });
}

const entryKinds: Record<string, string> = {
  'available held': 'hold',
  'held settled': 'settle',
  'held available': 'release',
};

async function entriesOf(
  db: Queryable,
  { paymentId, partnerId, mode }: WatchedPayment,
): Promise<Happening[]> {
  const { rows } = await db.query<{
    created_at: Date;
    kind: string;
    entry_no: bigint;
    micro_usdt: bigint;
  }>({
    text: `SELECT created_at, from_account || ' ' || to_account AS kind, entry_no, micro_usdt FROM entries
            WHERE payment_id = $1 AND partner_id = $2 AND mode = $3 ORDER BY entry_no`,
    values: [uuidFromId(paymentId), uuidFromId(partnerId), mode],
  });
  return rows.map(row =>
    happening(row.created_at, 'entry', entryKinds[row.kind]!, {
      detail: `${formatMicroUsdt(row.micro_usdt)} USDT, entry ${row.entry_no}`,
    }),
  );
}
