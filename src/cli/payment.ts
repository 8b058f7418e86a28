import { Command, Option } from 'commander';
import { parseId } from '../base/ids.ts';
import { formatKopecks, formatMicroUsdt, formatRate } from '../base/money.ts';
import { decidePayment, findPaymentAnywhere, paymentObject, pollNow } from '../payments/index.ts';
import { label } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { details, formatInstant, type Output } from './output.ts';
import { RefusedError } from './refused.ts';

export function paymentCommands(withDatabase: WithDatabase): Command {
  return new Command('payment')
    .description('show payments, and decide on those without an answer from the bank side')
    .addCommand(
      command('show <payment>', 'show a payment of any partner').action((payment, { json }) =>
        withDatabase(json, context => show(context, payment)),
      ),
    )
    .addCommand(
      command('ask <payment>', 'ask the bank side about an unfinished payment now').action(
        (payment, { json }) => withDatabase(json, context => poll(context, payment)),
      ),
    )
    .addCommand(
      command('resolve <payment>', 'decide how an unfinished payment ended; it cannot be undone')
        .addOption(
          new Option('--outcome <outcome>', 'what really happened at the bank side')
            .choices(['succeeded', 'failed'])
            .makeOptionMandatory(),
        )
        .requiredOption('--reason <reason>', 'how you know; stored in the audit log', label)
        .action((payment, { json, outcome, reason }) =>
          withDatabase(json, context => decide(context, payment, { outcome, reason })),
        ),
    );
}

async function poll({ audit }: CommandContext, payment: string): Promise<Output> {
  const paymentId = parseId('pay', payment);
  if (!paymentId) throw noSuchPayment(payment);
  const { outcome } = await pollNow(audit, paymentId);
  switch (outcome) {
    case 'asked':
      return {
        json: { payment_id: paymentId, outcome },
        text: `A worker asks about ${payment} now: see kopeck payment show.`,
      };
    case 'no_payment':
      throw noSuchPayment(payment);
    case 'test_mode':
      throw new RefusedError(outcome, `${payment} is in test mode: there is no bank side to ask.`);
    case 'under_way':
      throw underWay(payment);
    case 'already_ended':
      throw new RefusedError(outcome, `${payment} has ended already: there is nothing to ask.`);
  }
}

async function decide(
  context: CommandContext,
  payment: string,
  { outcome, reason }: Parameters<typeof decidePayment>[2],
): Promise<Output> {
  const paymentId = parseId('pay', payment);
  if (!paymentId) throw noSuchPayment(payment);
  const decision = await decidePayment(context.audit, paymentId, { outcome, reason });
  switch (decision.outcome) {
    case 'resolved':
      return show(context, payment);
    case 'no_payment':
      throw noSuchPayment(payment);
    case 'under_way':
      throw underWay(payment);
    case 'already_ended':
      throw new RefusedError(
        'already_ended',
        `${payment} is ${decision.status} already, and a final status never changes.`,
      );
  }
}

const noSuchPayment = (payment: string) =>
  new RefusedError('no_payment', `There is no payment ${payment}: check the id, it looks like pay_01h….`);

const underWay = (payment: string) =>
  new RefusedError(
    'under_way',
    `The bank side is being asked about ${payment} right now: try again in a minute.`,
  );

async function show({ audit }: CommandContext, id: string): Promise<Output> {
  const paymentId = parseId('pay', id);
  const payment = paymentId && (await findPaymentAnywhere(audit.pool, paymentId));
  if (!payment) throw noSuchPayment(id);
  const { partnerId, qrcId, idempotencyKey, gatewayOrderId, nextPollAt, supportSince } = payment;
  const state = [payment.status, payment.statusDetail, payment.errorCode].filter(Boolean).join(', ');
  const rows: [string, string | null][] = [
    ['payment', payment.paymentId],
    ['partner', `${partnerId} (${payment.mode})`],
    ['state', state],
    ['amount', `${formatKopecks(payment.amountKopecks)} RUB`],
    ['debited', `${formatMicroUsdt(payment.microUsdt)} USDT at ${formatRate(payment.rateE4)}`],
    ['recipient', payment.recipient],
    ['QR code', qrcId],
    ['external id', payment.externalId],
    ['idempotency key', idempotencyKey],
    ['gateway order', gatewayOrderId],
    ['created (UTC)', formatInstant(payment.createdAt)],
    ['ended (UTC)', payment.settledAt && formatInstant(payment.settledAt)],
    ['next poll (UTC)', nextPollAt && formatInstant(nextPollAt)],
    ['with support since', supportSince && formatInstant(supportSince)],
  ];
  return {
    json: {
      ...JSON.parse(paymentObject(payment)),
      partner_id: partnerId,
      qrc_id: qrcId,
      idempotency_key: idempotencyKey,
      gateway_order_id: gatewayOrderId,
      next_poll_at: nextPollAt?.toISOString() ?? null,
      support_since: supportSince?.toISOString() ?? null,
    },
    text: details(rows.filter((row): row is [string, string] => row[1] !== null)),
  };
}
