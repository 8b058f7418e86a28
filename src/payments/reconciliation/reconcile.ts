import { type Clock, instantOf } from '../../base/clock.ts';
import { idFromUuid, minUuidAt, parseId, timeOfId, uuidFromId } from '../../base/ids.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { columnsOf, type Pool, type Queryable, readValue, transaction } from '../../db/postgres/index.ts';
import type { Gateway, ListedOrder, OrderPage } from '../../gateway/index.ts';
import { type Difference, findRefundDifferences, type Period } from './refund-differences.ts';

export interface ReconcileDeps {
  pool: Pool;
  clock: Clock;
  gateway: Pick<Gateway, 'listOrders' | 'listRefunds'>;
}

export interface Reconciliation extends Period {
  runId: bigint;
  orders: bigint;
  payments: bigint;
  /** At most `maxDifferences` of them. */
  differences: Difference[];
  /** Whether these are all; if not, a payment that is not among them may differ too. */
  isComplete: boolean;
  /** Why only orders were compared, and no refunds. */
  refundFailure?: OperatorError | undefined;
}

/** Progress for the caller, and its way to cancel. */
export interface Watch {
  onProgress?(orders: number): void;
  signal?: AbortSignal;
}

/** The clock of the gateway may differ from ours by this much. */
const skewMs = 600_000;
/** An order is sent within a minute of its payment; one created this long after the period belongs to a later one. */
const maxOrderDelayMs = 3_600_000;
const timeLimitMs = 600_000;
const maxDifferences = 1_000;

/** Payments under way differ for a moment, since the two sides are not read at the same instant. */
const recheckAfterMs = 2_000;

/** Compares the two sides; a difference in a recent period counts only if a second comparison finds it too. */
export async function reconcile(
  deps: ReconcileDeps,
  actor: string,
  period: Period,
  watch: Watch = {},
): Promise<Reconciliation> {
  const { pool, clock } = deps;
  const runId = await startRun(pool, clock, actor, period);
  try {
    return await run(deps, runId, period, watch);
  } finally {
    // Only this run needs them.
    await pool.query('DELETE FROM listed_orders WHERE run_id = $1', [runId]).catch(() => {});
  }
}

async function run(
  deps: ReconcileDeps,
  runId: bigint,
  period: Period,
  watch: Watch,
): Promise<Reconciliation> {
  const { pool, clock } = deps;
  let { found, isComplete, refundFailure } = await compare(deps, runId, period, watch);
  const isOver = period.until.getTime() + maxOrderDelayMs < clock.nowMs();
  // A refund may be booked at any time, also of an old payment.
  if (found.some(({ kind }) => !isOver || kind === 'refunds_differ')) {
    await clock.sleep(recheckAfterMs, watch.signal);
    const before = new Set(found.map(keyOf));
    await queryForLong(pool, 'DELETE FROM listed_orders WHERE run_id = $1', [runId]);
    const again = await compare(deps, runId, period, watch);
    isComplete &&= again.isComplete;
    refundFailure ??= again.refundFailure;
    found = again.found.filter(difference => before.has(keyOf(difference)));
  }
  return finishRun(pool, clock, runId, period, { differences: found, isComplete, refundFailure });
}

interface Comparison extends Pick<Reconciliation, 'isComplete' | 'refundFailure'> {
  found: Difference[];
}

const keyOf = ({ kind, paymentId, orderId }: Difference) => `${kind} ${paymentId} ${orderId}`;

/**
 * Reads the list of the gateway page by page into a table, then compares it with our payments in one statement, so
 * that a day of a million payments needs no more memory than one of ten. No transaction is open during the calls. Each
 * page must have a new order, or the list is endless; how long it takes proves nothing.
 */
async function compare(
  deps: ReconcileDeps,
  runId: bigint,
  period: Period,
  { onProgress, signal }: Watch,
): Promise<Comparison> {
  const { pool, gateway } = deps;
  const seenCursors = new Set<string>();
  /** From shortly before and after the period: few. */
  const otherOrders = new Set<string>();
  let cursor: string | undefined;
  let count = 0;
  do {
    signal?.throwIfAborted();
    const page = await gateway.listOrders(new Date(period.from.getTime() - skewMs), cursor);
    const own = page.orders.filter(order => isOf(period, order));
    const newOwn = await storeOrders(pool, runId, own);
    const othersBefore = otherOrders.size;
    for (const order of page.orders) if (!isOf(period, order)) otherOrders.add(keyOfOrder(order));
    const hasNew = newOwn > 0 || otherOrders.size > othersBefore;
    count += own.length;
    onProgress?.(count);
    cursor = isPast(period, page) ? undefined : (page.nextCursor ?? undefined);
    if (cursor !== undefined && (seenCursors.has(cursor) || !hasNew))
      throw new OperatorError('The order list of the payment gateway has no end: its cursors must be fixed.');
    if (cursor !== undefined) seenCursors.add(cursor);
  } while (cursor !== undefined);
  await queryForLong(pool, missingNumbers, boundsOf(runId, period));
  const { rows } = await queryForLong<DifferenceRow>(pool, differences, boundsOf(runId, period));
  // A gateway without its list of refunds must not hide that its orders differ.
  let refundFailure: OperatorError | undefined;
  const refunds = await findRefundDifferences(deps, period, signal).catch(error => {
    if (!(error instanceof OperatorError)) throw error;
    refundFailure = error;
    return [];
  });
  const found = [...rows.map(toDifference), ...refunds].slice(0, maxDifferences);
  return { found, refundFailure, isComplete: !refundFailure && found.length < maxDifferences };
}

/** Orders come by creation time. A whole page must be past the period: a single order may have a wrong time. */
const isPast = ({ until }: Period, { orders }: OrderPage) =>
  orders.length > 0 &&
  orders.every(({ createdAt }) => createdAt.getTime() > until.getTime() + maxOrderDelayMs);

/**
 * An order belongs to the period of its payment, whose id has its creation time. If the id is not ours, or its time cannot
 * be true, the order's own creation time counts.
 */
function isOf({ from, until }: Period, { paymentId, createdAt }: ListedOrder): boolean {
  const id = parseId('pay', paymentId);
  const createdMs = createdAt.getTime();
  const idMs = id ? timeOfId(id) : createdMs;
  const atMs = Math.abs(idMs - createdMs) > maxOrderDelayMs ? createdMs : idMs;
  return atMs >= from.getTime() && atMs < until.getTime();
}

const startRun = (db: Queryable, clock: Clock, actor: string, { from, until }: Period) =>
  readValue<bigint>(db, {
    text: `INSERT INTO reconciliations (actor, from_at, until_at, started_at) VALUES ($1, $2, $3, $4) RETURNING id`,
    values: [actor, from, until, instantOf(clock)],
  });

const keyOfOrder = ({ orderId, paymentId }: ListedOrder) => `${orderId} ${paymentId}`;

/** Returns how many of them this comparison had not seen before. */
async function storeOrders(db: Queryable, runId: bigint, listed: ListedOrder[]): Promise<number> {
  // An order that is listed twice counts once, as it was listed last.
  const orders = [...new Map(listed.map(order => [keyOfOrder(order), order])).values()];
  if (orders.length === 0) return 0;
  const ids = orders.map(({ paymentId }) => parseId('pay', paymentId));
  const { rows } = await db.query<{ is_new: boolean }>({
    text: `INSERT INTO listed_orders (run_id, order_id, payment, payment_id, state, amount_kopecks, operation_number)
             SELECT $1, * FROM unnest($2::text[], $3::text[], $4::uuid[], $5::text[], $6::bigint[], $7::text[])
           ON CONFLICT (run_id, order_id, payment)
             DO UPDATE SET state = excluded.state, amount_kopecks = excluded.amount_kopecks
           RETURNING xmax = 0 AS is_new`,
    values: [
      runId,
      ...columnsOf(orders, 'orderId', 'paymentId'),
      ids.map(id => (id ? uuidFromId(id) : null)),
      ...columnsOf(orders, 'state', 'amountKopecks', 'operationNumber'),
    ],
  });
  return rows.filter(row => row.is_new).length;
}

const ours = `
  SELECT p.* FROM partners r CROSS JOIN LATERAL payments_between(r.id, 'live', $2, $3) AS p`;

/** Of payments that succeeded without one, or by an operator's decision, or lost theirs. */
const missingNumbers = `
  INSERT INTO operation_numbers (payment_id, operation_number)
    SELECT p.id, min(o.operation_number) FROM (${ours}) AS p JOIN listed_orders o ON o.run_id = $1 AND o.payment_id = p.id
     WHERE p.status = 'succeeded' AND o.operation_number IS NOT NULL GROUP BY p.id
  ON CONFLICT DO NOTHING`;

/** A second paid order of the same payment is `paid_there_not_here`; otherwise the most serious kind comes first. */
const differences = `
  SELECT * FROM (
    SELECT CASE
             WHEN o.state = 'succeeded' AND place > 1 THEN 'paid_there_not_here'
             WHEN o.amount_kopecks <> p.amount_kopecks THEN 'amounts_differ'
             WHEN o.state NOT IN ('declined', 'voided') AND p.status IS DISTINCT FROM 'succeeded' AND p.status IS DISTINCT FROM 'processing'
               THEN 'paid_there_not_here'
             WHEN p.status = 'succeeded' AND o.state IS DISTINCT FROM 'succeeded' AND place IS NOT DISTINCT FROM 1
                  OR p.status = 'succeeded' AND o.state IS NULL THEN 'here_not_there'
             WHEN p.status = 'processing' THEN 'still_open'
           END AS kind,
           p.id, o.payment, p.partner_id AS "partnerId", p.status, p.amount_kopecks AS "amountKopecks",
           o.order_id AS "orderId", o.state AS "orderState", o.amount_kopecks AS "orderKopecks"
      FROM (${ours}) AS p
      FULL JOIN (SELECT *, row_number() OVER (
                          PARTITION BY payment ORDER BY state <> 'succeeded', order_id) AS place
                   FROM listed_orders WHERE run_id = $1) AS o ON o.payment_id = p.id) AS compared
   WHERE kind IS NOT NULL ORDER BY kind, id, "orderId" LIMIT ${maxDifferences}`;

const boundsOf = (runId: bigint, { from, until }: Period) => [
  runId,
  minUuidAt(from.getTime()),
  minUuidAt(until.getTime()),
];

/** A statement over a whole day may take longer than the time-out for requests. */
const queryForLong = <Row extends object>(pool: Pool, text: string, values: unknown[]) =>
  transaction(pool, async tx => {
    await tx.query({ text: `SET LOCAL statement_timeout = ${timeLimitMs}` });
    return tx.query<Row>({ text, values, query_timeout: timeLimitMs });
  });

async function finishRun(
  pool: Pool,
  clock: Clock,
  runId: bigint,
  period: Period,
  found: Pick<Reconciliation, 'differences' | 'isComplete' | 'refundFailure'>,
): Promise<Reconciliation> {
  const { rows } = await queryForLong<{ orders: bigint; payments: bigint }>(
    pool,
    `UPDATE reconciliations
        SET finished_at = $4, differences = $5, is_complete = $6, orders = (SELECT count(*) FROM listed_orders WHERE run_id = $1),
            payments = (SELECT count(*) FROM (${ours}) AS p WHERE NOT p.rejected)
      WHERE id = $1 RETURNING orders, payments`,
    [
      ...boundsOf(runId, period),
      instantOf(clock),
      JSON.stringify(found.differences.map(differenceObject)),
      found.isComplete,
    ],
  );
  return { runId, ...period, ...rows[0]!, ...found };
}

type DifferenceRow = Omit<Difference, 'paymentId'> & { id: string | null; payment: string | null };

const toDifference = ({ id, payment, ...row }: DifferenceRow): Difference => ({
  ...row,
  paymentId: id ? idFromUuid('pay', id) : payment!,
  partnerId: row.partnerId && idFromUuid('prt', row.partnerId),
});

/** As JSON: stored with the run, and printed by the command line. */
export const differenceObject = (difference: Difference) => ({
  kind: difference.kind,
  payment_id: difference.paymentId,
  partner_id: difference.partnerId,
  status: difference.status,
  amount_kopecks: difference.amountKopecks === null ? null : Number(difference.amountKopecks),
  order_id: difference.orderId,
  order_state: difference.orderState,
  order_kopecks: difference.orderKopecks === null ? null : Number(difference.orderKopecks),
});
