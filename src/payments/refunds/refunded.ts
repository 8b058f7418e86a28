import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { sharedRead } from '../../db/batching/index.ts';
import { type Queryable, readRows, readValues } from '../../db/postgres/index.ts';
import type { Gateway, ListedRefund } from '../../gateway/index.ts';
import type { AccountKey, LedgerPeriod } from '../../ledger/index.ts';
import type { Payment, Refunded } from '../payment.ts';

const totals = `SELECT r.total_kopecks AS kopecks, r.total_micro_usdt AS "microUsdt" FROM refunds r
                 WHERE r.payment_id = k.id ORDER BY r.total_kopecks DESC LIMIT 1`;

/** Of several payments at once: a page is one question. */
const findTotals = sharedRead(async (db, questions: Id<'pay'>[][]): Promise<(Refunded | undefined)[][]> => {
  const { rows } = await db.query<Refunded & { item: number }>({
    name: 'find refunded totals',
    text: `SELECT t.*, k.item::int FROM unnest($1::uuid[]) WITH ORDINALITY AS k (id, item), LATERAL (${totals}) AS t`,
    values: [questions.flat().map(uuidFromId)],
  });
  const found = new Map(rows.map(({ item, kopecks, microUsdt }) => [item, { kopecks, microUsdt }]));
  let item = 0;
  return questions.map(paymentIds => paymentIds.map(() => found.get(++item)));
});

type Ended = Pick<Payment, 'status' | 'paymentId'>;

/** Only of what was paid. */
export const mayBeRefunded = ({ status }: Pick<Payment, 'status'>) => status === 'succeeded';

/** What has been returned of each of these payments; undefined: nothing. */
export async function findRefundedOf(db: Queryable, payments: Ended[]): Promise<(Refunded | undefined)[]> {
  const paid = payments.filter(mayBeRefunded);
  if (paid.length === 0) return [];
  const totals = await findTotals(
    db,
    paid.map(({ paymentId }) => paymentId),
  );
  return payments.map(payment => totals[paid.indexOf(payment)]);
}

/** The same for one payment. */
export const findRefunded = async (db: Queryable, payment: Ended): Promise<Refunded | undefined> =>
  (await findRefundedOf(db, [payment]))[0];

export interface Refund extends Refunded {
  refundId: string;
  amountKopecks: bigint;
  amountMicroUsdt: bigint;
  entryNo: bigint | null;
  eventId: bigint;
  /** At the payment gateway. */
  refundedAt: Date;
  bookedAt: Date;
}

/** The refunds of a payment in the order in which they were booked; `kopecks` and `microUsdt` are the totals after each. */
export const listRefunds = (db: Queryable, paymentId: Id<'pay'>) =>
  readRows<Refund>(db, {
    text: `SELECT refund_id AS "refundId", amount_kopecks AS "amountKopecks", micro_usdt AS "amountMicroUsdt",
                  total_kopecks AS kopecks, total_micro_usdt AS "microUsdt", entry_no AS "entryNo",
                  event_id AS "eventId", refunded_at AS "refundedAt", booked_at AS "bookedAt"
             FROM refunds WHERE payment_id = $1 ORDER BY total_kopecks`,
    values: [uuidFromId(paymentId)],
  });

/** The rubles of refunds, by the numbers of their entries in the ledger. */
export async function readRefundKopecks(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  entryNos: bigint[],
): Promise<Map<bigint, bigint>> {
  const rows = await readRows<{ entryNo: bigint; kopecks: bigint }>(db, {
    text: `SELECT entry_no AS "entryNo", amount_kopecks AS kopecks FROM refunds
            WHERE partner_id = $1 AND mode = $2 AND entry_no = ANY ($3)`,
    values: [uuidFromId(partnerId), mode, entryNos],
  });
  return new Map(rows.map(({ entryNo, kopecks }) => [entryNo, kopecks]));
}

/** The payments whose refunds are entries of a period. */
export async function refundedPayments(
  db: Queryable,
  { partnerId, mode, entriesAbove, entriesUpTo }: LedgerPeriod,
): Promise<Id<'pay'>[]> {
  const uuids = await readValues<string>(db, {
    text: `SELECT DISTINCT payment_id FROM refunds
            WHERE partner_id = $1 AND mode = $2 AND entry_no > $3 AND entry_no <= $4`,
    values: [uuidFromId(partnerId), mode, entriesAbove, entriesUpTo],
  });
  return uuids.map(uuid => idFromUuid('pay', uuid));
}

/** A proxy may answer so for a while. A gateway that has had the list has it, so this is a failure. */
export const refundListIsGone = () =>
  new OperatorError('The payment gateway had a list of refunds, and now answers that it has none: check it.');

/** The list from that time on, page by page, each refund once. Undefined instead of a page: the gateway has no such list. */
export async function* readRefundList(
  gateway: Pick<Gateway, 'listRefunds'>,
  since: Date,
  signal: AbortSignal | undefined,
): AsyncGenerator<ListedRefund[] | undefined> {
  const [seen, cursors] = [new Set<string>(), new Set<string>()];
  for (let cursor: string | undefined; ; ) {
    signal?.throwIfAborted();
    const page = await gateway.listRefunds(since, cursor);
    if (!page) {
      yield undefined;
      return;
    }
    const fresh = page.refunds.filter(({ refundId }) => !seen.has(refundId));
    for (const { refundId } of fresh) seen.add(refundId);
    yield fresh;
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
    if (cursors.has(cursor) || fresh.length === 0)
      throw new OperatorError(
        'The refund list of the payment gateway has no end: its cursors must be fixed.',
      );
    cursors.add(cursor);
  }
}
