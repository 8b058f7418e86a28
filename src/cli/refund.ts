import { createAlarms } from '../alarms/index.ts';
import { parseId } from '../base/ids.ts';
import { formatKopecks } from '../base/money.ts';
import { recordChange } from '../db/audit/index.ts';
import {
  createPaymentSignals,
  findPaymentAnywhere,
  type ReadRefunds,
  readRefunds,
  readRefundsOf,
} from '../payments/index.ts';
import { instant } from './arguments.ts';
import { type CommandContext, command, group, type WithDatabase } from './command.ts';
import { withGateway } from './gateway-connection.ts';
import { type Output, table } from './output.ts';
import { RefusedError } from './refused.ts';

export const refundCommands = (withDatabase: WithDatabase) =>
  group('refund', 'refunds that recipients made', [
    command('read', 'read refunds from the payment gateway now, and book those that are not booked yet')
      .option('--since <time>', 'made since this time, such as 2026-11-15T10:00:00Z', instant)
      .option('--payment <payment>', 'of one payment')
      .hook('preAction', self => {
        const { since, payment } = self.opts();
        if ((since === undefined) === (payment === undefined))
          self.error('error: use either --since or --payment');
      })
      .action(withDatabase(read)),
  ]);

/** The service books only refunds that were made since it knows of them; here an operator decides for older ones. */
async function read(
  context: CommandContext,
  { since, payment }: { since?: Date; payment?: string },
): Promise<Output> {
  const { audit } = context;
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const found = await withGateway(context, gateway => {
    const deps = {
      pool: audit.pool,
      db: audit.pool,
      clock: audit.clock,
      gateway,
      log,
      alarms: createAlarms({ db: audit.pool, clock: audit.clock, log }),
      signals: createPaymentSignals(),
    };
    return since ? readRefunds(deps, since) : ofPayment(context, payment!, deps);
  }).catch(async error => {
    // Some of a list may have been booked by then.
    const after = { since, failed: true };
    if (since) await recordChange(audit.pool, audit, { action: 'refund.read', subject: 'refunds', after });
    throw error;
  });
  if (!found)
    throw new RefusedError('no_refunds_list', 'The payment gateway has no list of refunds: use --payment.');
  const booked = found.verdicts.filter(verdict => verdict === 'booked').length;
  if (booked > 0)
    await recordChange(audit.pool, audit, {
      action: 'refund.read',
      subject: payment ?? 'refunds',
      after: { since, booked },
    });
  return describe(found, booked);
}

async function ofPayment({ audit }: CommandContext, text: string, deps: Parameters<typeof readRefundsOf>[0]) {
  const paymentId = parseId('pay', text);
  const payment = paymentId && (await findPaymentAnywhere(audit.pool, paymentId));
  if (payment?.mode !== 'live')
    throw new RefusedError('no_payment', `There is no live payment ${text}: check the ID.`);
  return readRefundsOf(deps, payment);
}

function describe({ refunds, verdicts, failure }: ReadRefunds, booked: number): Output {
  const shown = table(refunds, (refund, index) => ({
    refund: refund.refundId,
    payment: refund.paymentId,
    RUB: formatKopecks(refund.amountKopecks),
    'made (UTC)': refund.createdAt,
    outcome: verdicts[index]!,
  }));
  const summary = [`Booked now: ${booked}.`];
  if (failure) summary.push(`Some could not be booked: ${failure.message}. Run the command again later.`);
  return {
    isBad: failure !== undefined,
    json: {
      booked,
      refunds: refunds.map((refund, index) => ({
        refund_id: refund.refundId,
        payment_id: refund.paymentId,
        amount_kopecks: Number(refund.amountKopecks),
        refunded_at: refund.createdAt.toISOString(),
        outcome: verdicts[index],
      })),
    },
    text:
      refunds.length === 0 ? 'The payment gateway lists no refunds.' : `${shown}\n\n${summary.join('\n')}`,
  };
}
