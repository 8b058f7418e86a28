import { formatKopecks } from '../base/money.ts';
import { programName } from '../base/program-name.ts';
import * as payments from '../payments/index.ts';
import { label } from './arguments.ts';
import { type Context, type DatabaseCommand, group } from './command.ts';
import { formatInstant, listing, refuse, table } from './output.ts';

export const recoveryCommands = (command: DatabaseCommand) =>
  group('recovery', 'show and resolve what was lost in a restore or fail-over of the database', [
    command('show', 'show the histories of the database and unmatched gateway orders', show),
    command(
      'release <order>',
      'release the QR code and idempotency key of an unmatched order',
      release,
    ).requiredOption('--reason <text>', 'what you found out; stored in the audit log', label),
  ]);

async function show({ audit }: Context) {
  const incarnations = await payments.listIncarnations(audit.pool);
  const orders = await payments.listStray(audit.pool);
  const json = {
    incarnations: incarnations.map(payments.incarnationObject),
    stray_orders: orders.map(orderObject),
  };
  const waiting = listing(json, 'stray_orders', {
    order: 'order',
    state: 'state',
    RUB: 'amount_rub',
    'created (UTC)': 'created_at',
    'QR code': order => order.qrc_id ?? 'unknown',
    reason: 'why',
  });
  const histories = historiesOf(incarnations);
  const text = orders.length === 0 ? histories : `${histories}\n\nUnmatched gateway orders:\n${waiting.text}`;
  return { json, text };
}

async function release({ audit }: Context, order: string, { reason }: { reason: string }) {
  if (!(await payments.releaseStray(audit, order, reason)))
    refuse('no_order', `There is no unmatched order ${order}: see ${programName} recovery show.`);
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

const historiesOf = (incarnations: payments.PastIncarnation[]) =>
  table(incarnations, incarnation => ({
    incarnation: incarnation.number,
    cause: incarnation.cause,
    'started (UTC)': incarnation.beganAt,
    'complete until (UTC)': incarnation.certainAt,
    'opened (UTC)': incarnation.openedAt ? formatInstant(incarnation.openedAt) : 'not yet',
    orders: incarnation.listedOrders,
    rebuilt: incarnation.recoveredPayments,
    unmatched: incarnation.strayOrders,
  }));
