import { formatKopecks } from '../base/money.ts';
import { programName } from '../base/program-name.ts';
import * as payments from '../payments/index.ts';
import { label } from './arguments.ts';
import { type Context, command, group, type WithDatabase } from './command.ts';
import { formatInstant, RefusedError, table } from './output.ts';

export const recoveryCommands = (withDatabase: WithDatabase) =>
  group('recovery', 'show and resolve what was lost in a restore or fail-over of the database', [
    command('show', 'show the histories of the database and unmatched gateway orders').action(
      withDatabase(show),
    ),
    command('release <order>', 'release the QR code and idempotency key of an unmatched order')
      .requiredOption('--reason <text>', 'what you found out; stored in the audit log', label)
      .action(withDatabase(release)),
  ]);

async function show({ audit }: Context) {
  const incarnations = await payments.listIncarnations(audit.pool);
  const orders = await payments.listStray(audit.pool);
  return {
    json: {
      incarnations: incarnations.map(payments.incarnationObject),
      stray_orders: orders.map(orderObject),
    },
    text: describe(incarnations, orders),
  };
}

async function release({ audit }: Context, order: string, { reason }: { reason: string }) {
  if (!(await payments.releaseStray(audit, order, reason)))
    throw new RefusedError(
      'no_order',
      `There is no unmatched order ${order}: see ${programName} recovery show.`,
    );
  return {
    json: { order, released: true },
    text: `The QR code and idempotency key of ${order} can be used again.`,
  };
}

const orderObject = (order: payments.StrayOrder) => ({
  order: order.payment,
  order_id: order.orderId,
  state: order.state,
  amount_rub: formatKopecks(order.amountKopecks),
  created_at: order.createdAt.toISOString(),
  qrc_id: order.qrcId,
  why: order.why,
});

function describe(incarnations: payments.PastIncarnation[], orders: payments.StrayOrder[]): string {
  const histories = table(incarnations, incarnation => ({
    incarnation: incarnation.number,
    cause: incarnation.cause,
    'started (UTC)': incarnation.beganAt,
    'complete until (UTC)': incarnation.certainAt,
    'opened (UTC)': incarnation.openedAt ? formatInstant(incarnation.openedAt) : 'not yet',
    orders: incarnation.listedOrders,
    rebuilt: incarnation.recoveredPayments,
    unmatched: incarnation.strayOrders,
  }));
  if (orders.length === 0) return histories;
  const waiting = table(orders, order => ({
    order: order.payment,
    state: order.state,
    RUB: formatKopecks(order.amountKopecks),
    'created (UTC)': order.createdAt,
    'QR code': order.qrcId ?? 'unknown',
    reason: order.why,
  }));
  return `${histories}\n\nUnmatched gateway orders:\n${waiting}`;
}
