import { Option } from 'commander';
import { parseId } from '../base/ids.ts';
import { formatKopecks, formatMicroUsdt, formatRate } from '../base/money.ts';
import { programName } from '../base/program-name.ts';
import * as payments from '../payments/index.ts';
import { label, pageSize } from './arguments.ts';
import { type Context, choice, type DatabaseCommand, group } from './command.ts';
import { details, formatInstant, RefusedError, refuse, table } from './output.ts';

export const paymentCommands = (command: DatabaseCommand) =>
  group('payment', 'show payments, and resolve those without a final answer from the payment gateway', [
    command('list', 'list payments of all partners, newest first', list)
      .option('--partner <partner>', 'ID of a partner, or the beginning of its name', label)
      .option('--external-id <id>', 'external_id that the partner sent', label)
      .addOption(new Option('--mode <mode>', 'one mode only').choices(['test', 'live']))
      .addOption(
        new Option('--status <status>', 'one status only').choices(['processing', 'succeeded', 'failed']),
      )
      .option('--limit <count>', 'how many at most, up to 1000', pageSize, 20),
    command('show <payment>', 'show a payment of any partner', show),
    command('ask <payment>', 'poll the payment gateway for an unfinished payment now', poll),
    command('resolve <payment>', 'set the final status of an unfinished payment; it cannot be undone', decide)
      .addOption(
        choice('--outcome <outcome>', 'actual outcome at the payment gateway', ['succeeded', 'failed']),
      )
      .requiredOption('--reason <reason>', 'how you know the outcome; stored in the audit log', label),
  ]);

async function poll({ audit }: Context, payment: string) {
  const paymentId = parseId('pay', payment);
  if (!paymentId) throw refusal('no_payment', payment);
  const { outcome } = await payments.pollNow(audit, paymentId);
  if (outcome !== 'asked') throw refusal(outcome, payment);
  return {
    json: { payment_id: paymentId, outcome },
    text: `The payment gateway is polled for ${payment} now: see ${programName} payment show.`,
  };
}

async function decide(
  context: Context,
  payment: string,
  { outcome, reason }: Parameters<typeof payments.decidePayment>[2],
) {
  const paymentId = parseId('pay', payment);
  if (!paymentId) throw refusal('no_payment', payment);
  const decision = await payments.decidePayment(context.audit, paymentId, { outcome, reason });
  if (decision.outcome === 'resolved') return show(context, payment);
  if (decision.outcome !== 'already_ended') throw refusal(decision.outcome, payment);
  const message = `${payment} is already ${decision.status}, and a final status never changes.`;
  refuse('already_ended', message);
}

const refusals = {
  no_payment: (payment: string) =>
    `There is no payment ${payment}: check the ID, it looks like pay_01h…. To find one: ${programName} payment list --external-id ID`,
  under_way: (payment: string) =>
    `The payment gateway is being polled for ${payment} right now: try again in a minute.`,
  test_mode: (payment: string) => `${payment} is a test payment: there is no payment gateway to poll.`,
  already_ended: (payment: string) => `${payment} already has a final status: there is nothing to poll.`,
};
const refusal = (code: keyof typeof refusals, payment: string) =>
  new RefusedError(code, refusals[code](payment));

async function show({ audit }: Context, id: string) {
  const paymentId = parseId('pay', id);
  const payment = paymentId && (await payments.findPaymentAnywhere(audit.pool, paymentId));
  if (!payment) throw refusal('no_payment', id);
  const refunds = await payments.listRefunds(audit.pool, payment.paymentId);
  const quote = await payments.findQuoteOf(audit.pool, payment.paymentId);
  const refunded = refunds.at(-1);
  const { partnerId, qrcId, idempotencyKey, gatewayOrderId, nextPollAt, supportSince } = payment;
  return {
    json: {
      ...JSON.parse(payments.paymentObject(payment, refunded)),
      partner_id: partnerId,
      qrc_id: qrcId,
      idempotency_key: idempotencyKey,
      gateway_order_id: gatewayOrderId,
      next_poll_at: nextPollAt?.toISOString() ?? null,
      support_since: supportSince?.toISOString() ?? null,
      quote_id: quote?.quoteId ?? null,
      refunds: refunds.map(refund => ({
        refund_id: refund.refundId,
        amount_rub: formatKopecks(refund.amountKopecks),
        amount_usdt: formatMicroUsdt(refund.amountMicroUsdt),
        refunded_at: refund.refundedAt.toISOString(),
        booked_at: refund.bookedAt.toISOString(),
      })),
    },
    text: details({
      payment: payment.paymentId,
      partner: `${partnerId} (${payment.mode})`,
      status: [payment.status, payment.statusDetail, payment.errorCode].filter(Boolean).join(', '),
      amount: `${formatKopecks(payment.amountKopecks)} RUB`,
      debited: `${formatMicroUsdt(payment.microUsdt)} USDT at ${formatRate(payment.rateE4)}`,
      'locked quote':
        quote && `${quote.quoteId} of ${formatInstant(quote.lockedAt)} UTC, ${quote.spreadBps / 100}% extra`,
      refunded: refunds.map(
        refund =>
          `${formatKopecks(refund.amountKopecks)} RUB, ${formatMicroUsdt(refund.amountMicroUsdt)} USDT (${refund.refundId}, ${formatInstant(refund.bookedAt)} UTC)`,
      ),
      recipient: payment.recipient,
      'QR code': qrcId,
      external_id: payment.externalId,
      'idempotency key': idempotencyKey,
      'gateway order': gatewayOrderId,
      'created (UTC)': payment.createdAt,
      'completed (UTC)': payment.settledAt,
      'next poll (UTC)': nextPollAt,
      'with support since (UTC)': supportSince,
    }),
  };
}

interface ListOptions extends Pick<payments.PaymentFilter, 'externalId' | 'mode' | 'status'> {
  partner?: string;
  limit: number;
}

async function list({ audit }: Context, { partner, limit, ...others }: ListOptions) {
  const partnerId = partner === undefined ? undefined : parseId('prt', partner);
  const filter = { ...(partnerId ? { partnerId } : { partnerName: partner }), ...others };
  const found: payments.FoundPayment[] = [];
  let page = await payments.searchPayments(audit.pool, [filter], { limit });
  found.push(...page.payments);
  // A search stops after some thousand payments that do not match, and can be continued.
  while (found.length < limit && page.next) {
    page = await payments.searchPayments(audit.pool, [filter], {
      limit: limit - found.length,
      after: page.next,
    });
    found.push(...page.payments);
  }
  const refunded = await payments.findRefundedOf(audit.pool, found);
  return {
    json: {
      payments: found.map((payment, index) => ({
        ...JSON.parse(payments.paymentObject(payment, refunded[index])),
        partner_id: payment.partnerId,
        partner_name: payment.partnerName,
      })),
    },
    text: table(found, payment => ({
      payment: payment.paymentId,
      'created (UTC)': payment.createdAt,
      partner: payment.partnerName,
      mode: payment.mode,
      status: [payment.status, payment.errorCode].filter(Boolean).join(', '),
      RUB: formatKopecks(payment.amountKopecks),
      USDT: formatMicroUsdt(payment.microUsdt),
      external_id: payment.externalId ?? '',
    })),
  };
}
