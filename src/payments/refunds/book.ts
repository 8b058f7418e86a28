import { type Alarms, clearedByService, listOpenSubjects } from '../../alarms/index.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { parseId, uuidFromId } from '../../base/ids.ts';
import { formatKopecks } from '../../base/money.ts';
import {
  columnsOf,
  type Pool,
  type Queryable,
  readValues,
  retryOnDeadlock,
  transaction,
} from '../../db/postgres/index.ts';
import type { ListedRefund } from '../../gateway/index.ts';
import type { Mode } from '../../ledger/index.ts';
import type { PaymentSignals } from '../signals.ts';

export interface BookDeps {
  pool: Pool;
  db: Queryable;
  clock: Clock;
  alarms: Alarms;
  signals: Pick<PaymentSignals, 'eventWritten'>;
}

/** `revoked`: the gateway took it back before it was booked, so there is nothing to do. */
export type RefundVerdict =
  | 'booked'
  | 'known'
  | 'conflict'
  | 'no_payment'
  | 'not_paid_yet'
  | 'not_paid'
  | 'too_much'
  | 'reference_taken'
  | 'revoked'
  /** It could not be booked now: an account is locked. */
  | 'failed';

/** Accounts stay locked until a call ends, so that it is kept short. */
const maxPerCall = 50;

const notBooked = 'refund_not_booked';
const revokedAlarm = 'refund_revoked';

/** The verdict on each refund, and why some `failed`. */
export interface Booking {
  verdicts: RefundVerdict[];
  failure?: Error | undefined;
}

/**
 * Books what is new, each refund once, however often and by how many processes it is read. What cannot be true is not booked and raises an
 * alarm, and so does a booked refund that the gateway takes back: an operator decides about that money.
 */
export async function bookRefunds(deps: BookDeps, listed: ListedRefund[]): Promise<Booking> {
  const verdicts = new Array<RefundVerdict>(listed.length).fill('known');
  const known = await findKnown(deps.db, listed);
  const failures: Error[] = [];
  const fresh: number[] = [];
  for (const [index, refund] of listed.entries()) {
    const same = known.get(refund.refundId);
    if (same) continue;
    if (same === false) verdicts[index] = 'conflict';
    else if (refund.isRevoked) verdicts[index] = 'revoked';
    else fresh.push(index);
  }
  for (let from = 0; from < fresh.length; from += maxPerCall) {
    const chunk = fresh.slice(from, from + maxPerCall);
    const decided = await book(
      deps,
      chunk.map(index => listed[index]!),
      failures,
    );
    for (const [nth, index] of chunk.entries()) verdicts[index] = decided[nth]!;
  }
  await report(deps, listed, verdicts);
  return { verdicts, ...(verdicts.includes('failed') ? { failure: failures[0] } : {}) };
}

/**
 * By id: whether what is booked has the same payment and amount. A plain read, since nearly all of a list is booked already: no
 * account needs to be locked for these.
 */
async function findKnown(db: Queryable, listed: ListedRefund[]): Promise<Map<string, boolean>> {
  if (listed.length === 0) return new Map();
  const { rows } = await db.query<{ refund_id: string; payment_id: string; amount_kopecks: bigint }>({
    text: 'SELECT refund_id, payment_id, amount_kopecks FROM refunds WHERE refund_id = ANY ($1)',
    values: [listed.map(({ refundId }) => refundId)],
  });
  const booked = new Map(rows.map(row => [row.refund_id, row]));
  return new Map(
    listed.flatMap(({ refundId, paymentId, amountKopecks }) => {
      const row = booked.get(refundId);
      const id = parseId('pay', paymentId);
      const isSame = row && id && row.payment_id === uuidFromId(id) && row.amount_kopecks === amountKopecks;
      return row ? [[refundId, Boolean(isSame)]] : [];
    }),
  );
}

/** One transaction for each partner: a locked account holds up no other. */
async function book(deps: BookDeps, refunds: ListedRefund[], failures: Error[]): Promise<RefundVerdict[]> {
  const own = refunds.flatMap((refund, nth) => {
    const id = parseId('pay', refund.paymentId);
    return id ? [{ ...refund, uuid: uuidFromId(id), nth }] : [];
  });
  const owners = await findOwners(deps.db, own);
  const verdicts = new Array<RefundVerdict>(refunds.length).fill('no_payment');
  for (const owner of [...new Set(owners.values())]) {
    const ofOwner = own.filter(({ uuid }) => owners.get(uuid) === owner);
    const decided = await bookOf(deps, 'live', ofOwner).catch((error: Error) => {
      failures.push(error);
      return ofOwner.map((): RefundVerdict => 'failed');
    });
    for (const [index, { nth, paymentId }] of ofOwner.entries()) {
      verdicts[nth] = decided[index]!;
      if (decided[index] === 'booked') deps.signals.eventWritten.emit(parseId('pay', paymentId)!);
    }
  }
  return verdicts;
}

/** The partner of each payment, by its id. */
async function findOwners(db: Queryable, refunds: { uuid: string }[]): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; partner_id: string }>({
    text: `SELECT p.id, p.partner_id FROM unnest($1::uuid[]) AS k (id),
                  LATERAL payment_of_anyone('live', k.id) AS p`,
    values: [refunds.map(({ uuid }) => uuid)],
  });
  return new Map(rows.map(({ id, partner_id }) => [id, partner_id]));
}

/** Refunds of payments of one partner and mode; `uuid` is the payment's. */
export const bookOf = (
  { pool, clock }: Pick<BookDeps, 'pool' | 'clock'>,
  mode: Mode,
  refunds: (Pick<ListedRefund, 'refundId' | 'amountKopecks' | 'createdAt'> & { uuid: string })[],
): Promise<RefundVerdict[]> =>
  retryOnDeadlock(() =>
    transaction(pool, tx =>
      readValues<RefundVerdict>(tx, {
        text: 'SELECT verdict FROM payments_refund($1, $2, $3, $4, $5, $6) ORDER BY item',
        values: [
          mode,
          ...columnsOf(refunds, 'refundId', 'uuid', 'amountKopecks', 'createdAt'),
          instantOf(clock),
        ],
      }),
    ),
  );

const reasons: Partial<Record<RefundVerdict, string>> = {
  conflict: 'another refund with this id is booked',
  no_payment: 'there is no such live payment here',
  not_paid: 'the payment has not succeeded here',
  too_much: 'with it more would be refunded than was paid',
  reference_taken: 'its reference was used for a top-up',
};

async function report(
  { db, alarms }: BookDeps,
  listed: ListedRefund[],
  verdicts: RefundVerdict[],
): Promise<void> {
  const found = listed.flatMap((refund, index) => {
    const reason = reasons[verdicts[index]!];
    const { refundId: subject, paymentId, isRevoked } = refund;
    const what = `The payment gateway lists a refund of ${formatKopecks(refund.amountKopecks)} RUB for ${paymentId}`;
    if (reason) return [{ kind: notBooked, subject, detail: `${what}. It is not booked: ${reason}.` }];
    return isRevoked && verdicts[index] === 'known'
      ? [{ kind: revokedAlarm, subject, detail: `${what} as revoked, but it is booked. ${decide}` }]
      : [];
  });
  await raiseOnce(db, alarms, found);
  // Also those of before: a process that died after it had booked one has left its alarm.
  const booked = listed.filter((_, index) => ['booked', 'known'].includes(verdicts[index]!));
  const open = booked.length > 0 ? await listOpenSubjects(db, notBooked) : [];
  for (const { refundId } of booked) if (open.includes(refundId)) await alarms.clear(notBooked, refundId);
}

const decide = 'Nothing is debited by itself: clarify it with the payment gateway and the partner.';

/** The list has the same refunds again and again: an alarm that an operator has cleared is not raised again. */
async function raiseOnce(db: Queryable, alarms: Alarms, found: Parameters<Alarms['raise']>[0][]) {
  if (found.length === 0) return;
  const { rows } = await db.query<{ kind: string; subject: string }>({
    text: `SELECT kind, subject FROM alarms
            WHERE kind = ANY ($1) AND subject = ANY ($2) AND (cleared_at IS NULL OR cleared_by <> $3)`,
    values: [[notBooked, revokedAlarm], found.map(({ subject }) => subject), clearedByService],
  });
  const before = new Set(rows.map(({ kind, subject }) => `${kind} ${subject}`));
  for (const alarm of found) if (!before.has(`${alarm.kind} ${alarm.subject}`)) await alarms.raise(alarm);
}

/** Refunds that are booked, but that a whole list since `since` does not have. */
export async function reportMissing(
  { db, alarms }: BookDeps,
  { since, until, startedAt, seen }: { since: Date; until: Date; startedAt: Date; seen: Set<string> },
): Promise<void> {
  const { rows } = await db.query<{ refund_id: string }>({
    // Another process may have booked one that the list has got only since.
    text: `SELECT refund_id FROM refunds
            WHERE mode = 'live' AND refunded_at >= $1 AND refunded_at < $2 AND booked_at < $3 ORDER BY refunded_at`,
    values: [since, until, startedAt],
  });
  const missing = rows.filter(({ refund_id }) => !seen.has(refund_id));
  const detail = `The refund is booked, but the payment gateway no longer lists it. ${decide}`;
  await raiseOnce(
    db,
    alarms,
    missing.map(({ refund_id: subject }) => ({ kind: revokedAlarm, subject, detail })),
  );
}
