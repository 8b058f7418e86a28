import { type Id, idFromUuid, uuidFromId } from '../../src/base/ids.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { type Attempt, callBank, isFinal, type World } from './world.ts';

interface PaymentRow {
  id: Id<'pay'>;
  mode: string;
  status: string;
  errorCode: string | null;
  amountKopecks: bigint;
  orderId: string | null;
  idempotencyKey: string;
  events: number;
  /** The account that received the held money. */
  heldWentTo: string | null;
}

interface BankOrder {
  payment_id: Id<'pay'>;
  order_id: string;
  state: string;
  amount_kopecks: number;
  qrc_id: string;
}

/** Every broken rule after these payments are over; empty if no crash did any harm. */
export async function findHarm(world: World, attempts: Attempt[]): Promise<string[]> {
  const payments = await readPayments(world, attempts);
  const orders = await readOrders(world, attempts);
  const { findings } = await verifyLedger(world.pool);
  return [
    ...findings.map(({ invariant, detail }) => `ledger: ${invariant}: ${detail}`),
    ...payments.flatMap(payment => harmOf(payment, orders.get(payment.id))),
    ...unknownOrders(payments, orders),
    ...attempts.flatMap(attempt => harmTo(attempt, payments)),
    ...(await findLeftovers(world, payments)),
  ];
}

async function readPayments({ pool }: World, attempts: Attempt[]): Promise<PaymentRow[]> {
  const { rows } = await pool.query(
    `SELECT p.id, p.mode, p.status, p.error_code AS "errorCode", p.amount_kopecks AS "amountKopecks",
            p.gateway_order_id AS "orderId", p.idempotency_key AS "idempotencyKey",
            (SELECT count(*)::int FROM events v WHERE v.payment_id = p.id) AS events,
            (SELECT e.to_account FROM entries e WHERE e.partner_id = p.partner_id AND e.mode = p.mode
                AND e.payment_id = p.id AND e.from_account = 'held') AS "heldWentTo"
       FROM payments p WHERE NOT p.rejected AND p.idempotency_key = ANY ($1)`,
    [attempts.map(({ idempotencyKey }) => idempotencyKey)],
  );
  return rows.map(row => ({ ...row, id: idFromUuid('pay', row.id) }));
}

/** The orders for the codes of these attempts; other worlds share the bank. */
async function readOrders(world: World, attempts: Attempt[]): Promise<Map<Id<'pay'>, BankOrder>> {
  const codes = new Set(attempts.map(({ qrcId }) => qrcId));
  const orders = new Map<Id<'pay'>, BankOrder>();
  for (let cursor: string | null = '0'; cursor !== null; ) {
    const page: { orders: BankOrder[]; next_cursor: string | null } = await callBank(
      world,
      'GET',
      `/orders?limit=1000&cursor=${cursor}`,
    );
    for (const order of page.orders) if (codes.has(order.qrc_id)) orders.set(order.payment_id, order);
    cursor = page.next_cursor;
  }
  return orders;
}

function harmOf(payment: PaymentRow, order: BankOrder | undefined): string[] {
  const { id, mode, status, errorCode, orderId, amountKopecks, events, heldWentTo } = payment;
  const harm: string[] = [];
  if (events !== 1) harm.push(`${id} has ${events} events`);
  const where = { succeeded: 'settled', failed: 'available' }[status];
  if (heldWentTo !== (where ?? null)) harm.push(`${id} is ${status} and its money went to ${heldWentTo}`);
  if (mode === 'test') {
    const expected = amountKopecks % 100n === 1n ? 'failed' : 'succeeded';
    if (status !== expected) harm.push(`${id} is ${status}, its kopecks say ${expected}`);
    return harm;
  }
  if (!order) {
    if (status !== 'failed' || errorCode !== 'not_executed')
      harm.push(`${id} is ${status} (${errorCode}), the bank never had an order`);
    return harm;
  }
  const expected = { succeeded: 'succeeded', declined: 'failed' }[order.state];
  if (status !== expected || errorCode === 'not_executed')
    harm.push(`${id} is ${status} (${errorCode}), the bank says ${order.state}`);
  if (BigInt(order.amount_kopecks) !== amountKopecks)
    harm.push(`${id} is over ${amountKopecks}, the bank says ${order.amount_kopecks}`);
  if (orderId !== order.order_id) harm.push(`${id} has order ${orderId}, the bank says ${order.order_id}`);
  return harm;
}

function unknownOrders(payments: PaymentRow[], orders: Map<Id<'pay'>, BankOrder>): string[] {
  const known = new Set(payments.map(({ id }) => id));
  return [...orders.values()]
    .filter(({ payment_id: id }) => !known.has(id))
    .map(
      ({ payment_id: id, state }) => `the bank has an order for ${id} (${state}), there is no such payment`,
    );
}

/** One payment per key, and every answer its partner ever got is true. */
function harmTo({ behaviour, idempotencyKey, answers }: Attempt, payments: PaymentRow[]): string[] {
  const own = payments.filter(payment => payment.idempotencyKey === idempotencyKey);
  const [payment] = own;
  if (own.length !== 1 || !payment) return [`${behaviour}: ${own.length} payments for one key`];
  const wrong = answers.filter(
    answer =>
      answer.httpStatus === 500 ||
      (answer.id !== undefined && answer.id !== payment.id) ||
      (isFinal(answer) && answer.status !== payment.status),
  );
  return wrong.map(
    answer => `${behaviour}: answered ${JSON.stringify(answer)}, but ${payment.id} is ${payment.status}`,
  );
}

async function findLeftovers({ pool, attempts }: World, payments: PaymentRow[]): Promise<string[]> {
  const { rows } = await pool.query<{
    unrequested: number;
    early: number;
    open: number;
    alarms: string | null;
  }>(
    `SELECT (SELECT count(*)::int FROM payments WHERE idempotency_key <> ALL ($1)) AS unrequested,
            (SELECT count(*)::int FROM events v WHERE NOT EXISTS (
                SELECT FROM payments p WHERE p.id = v.payment_id AND p.status IN ('succeeded', 'failed'))) AS early,
            (SELECT count(*)::int FROM open_payments WHERE payment_id = ANY ($2)) AS open,
            (SELECT string_agg(detail, '; ') FROM alarms WHERE subject = ANY ($3)) AS alarms`,
    [
      attempts.map(({ idempotencyKey }) => idempotencyKey),
      payments.map(({ id }) => uuidFromId(id)),
      payments.map(({ id }) => id),
    ],
  );
  const { unrequested, early, open, alarms } = rows[0]!;
  const harm: string[] = [];
  if (unrequested > 0) harm.push(`${unrequested} payments that nobody requested`);
  if (early > 0) harm.push(`${early} events of payments that are not finished`);
  if (open > 0) harm.push(`${open} payments are still open`);
  if (alarms) harm.push(`alarms: ${alarms}`);
  return harm;
}
