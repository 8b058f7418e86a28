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
    .description('see payments, and end those that the bank side gives no answer about')
    .addCommand(
      command('show <payment>', 'show a payment, whoever made it').action((payment, { json }) =>
        withDatabase(json, context => show(context, payment)),
      ),
    )
    .addCommand(
      command('ask <payment>', 'ask the bank side about an unfinished payment now').action(
        (payment, { json }) =>
          withDatabase(json, async context => {
            const paymentId = parseId('pay', payment);
            if (!paymentId) throw noSuchPayment(payment);
            const { outcome } = await pollNow(context.audit, paymentId);
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
          }),
      ),
    )
    .addCommand(
      command('resolve <payment>', 'end an unfinished payment by your word; it cannot be undone')
        .addOption(
          new Option('--outcome <outcome>', 'what really happened at the bank side')
            .choices(['succeeded', 'failed'])
            .makeOptionMandatory(),
        )
        .requiredOption('--reason <reason>', 'how you know; goes on record', label)
        .action((payment, { json, outcome, reason }) =>
          withDatabase(json, async context => {
            const paymentId = parseId('pay', payment);
            if (!paymentId) throw noSuchPayment(payment);
            const resolution = await decidePayment(context.audit, paymentId, { outcome, reason });
            switch (resolution.outcome) {
              case 'resolved':
                return show(context, payment);
              case 'no_payment':
                throw noSuchPayment(payment);
              case 'under_way':
                throw underWay(payment);
              case 'already_ended':
                throw new RefusedError(
                  'already_ended',
                  `${payment} is ${resolution.status} already, and what has ended stays as it is.`,
                );
            }
          }),
        ),
    );
}

const noSuchPayment = (payment: string) =>
  new RefusedError('no_payment', `There is no payment ${payment}: check the id, it looks like pay_01h….`);

const underWay = (payment: string) =>
  new RefusedError(
    'under_way',
    `The bank side is being asked about ${payment} at this moment: try again in a minute.`,
  );

async function show({ audit }: CommandContext, id: string): Promise<Output> {
  const paymentId = parseId('pay', id);
  const payment = paymentId && (await findPaymentAnywhere(audit.pool, paymentId));
  if (!payment) throw noSuchPayment(id);
  const { partnerId, qrcId, idempotencyKey, gatewayOrderId, nextLookAt, supportSince } = payment;
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
    ['next look (UTC)', nextLookAt && formatInstant(nextLookAt)],
    ['with support since', supportSince && formatInstant(supportSince)],
  ];
  return {
    json: {
      ...JSON.parse(paymentObject(payment)),
      partner_id: partnerId,
      qrc_id: qrcId,
      idempotency_key: idempotencyKey,
      gateway_order_id: gatewayOrderId,
      next_look_at: nextLookAt?.toISOString() ?? null,
      support_since: supportSince?.toISOString() ?? null,
    },
    text: details(rows.filter((row): row is [string, string] => row[1] !== null)),
  };
}
