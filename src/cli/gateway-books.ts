import { createAlarms } from '../alarms/index.ts';
import type { Clock } from '../base/clock.ts';
import { parseId } from '../base/ids.ts';
import { formatKopecks } from '../base/money.ts';
import { recordChange } from '../db/audit/index.ts';
import { createHttpGateway, type Gateway } from '../gateway/index.ts';
import * as payments from '../payments/index.ts';
import type { startSimulator } from '../runtime/index.ts';
import { day, instant } from './arguments.ts';
import { type Context, type DatabaseCommand, either, group, requireDataDir } from './command.ts';
import { lateLines, listing, type Output, refuse, table } from './output.ts';

const dayMs = 86_400_000;

export const reconcileCommand = (command: DatabaseCommand) =>
  command(
    'reconcile',
    "compare a day's live payments with the gateway's orders; exits with 1 on discrepancies",
    run,
  ).option('--day <day>', 'of creation, UTC (default: today)', day);

const startOfToday = (clock: Clock) => new Date(Math.floor(clock.nowMs() / dayMs) * dayMs);

async function run(context: Context, { day: given }: { day?: Date }) {
  const { audit, progress } = context;
  const from = given ?? startOfToday(audit.clock);
  const show = lateLines(progress);
  const onProgress = (orders: number) => show(`${orders} orders read …`);
  return withGateway(context, async gateway => {
    const reconciliation = await payments.reconcileDay(audit, gateway, from, { onProgress });
    const { orders, payments: count, differences, isComplete, refundFailure } = reconciliation;
    const ok = differences.length === 0 && isComplete;
    const date = from.toISOString().slice(0, 10);
    return {
      isBad: !ok,
      json: {
        ok,
        day: date,
        orders: Number(orders),
        payments: Number(count),
        is_complete: isComplete,
        refund_error: refundFailure?.message ?? null,
        ...Object.fromEntries(
          Object.keys(headings).map(kind => [
            kind,
            differences.filter(difference => difference.kind === kind).map(payments.differenceObject),
          ]),
        ),
      },
      text: ok
        ? `${date}: no discrepancies (${count} payments, ${orders} orders).`
        : describe(reconciliation),
    };
  });
}

const headings: Record<payments.DifferenceKind, string> = {
  paid_there_not_here: 'Paid at the gateway, not here',
  here_not_there: 'Paid here, not at the gateway',
  amounts_differ: 'Different amounts',
  still_open: 'Still processing',
  refunds_differ: 'Different refunds',
};

const incomplete = 'This list is incomplete: there are more discrepancies. Resolve these and run it again.';

function describe({ differences, isComplete, refundFailure }: payments.Reconciliation): string {
  const parts = Object.entries(headings).flatMap(([kind, heading]) => {
    const found = differences.filter(difference => difference.kind === kind);
    return found.length === 0 ? [] : [`${heading}: ${found.length}\n${table(found, toRow)}`];
  });
  if (refundFailure) parts.push(`Orders were compared, refunds were not: ${refundFailure.message}`);
  else if (!isComplete) parts.push(incomplete);
  return parts.join('\n\n');
}

const toRow = (difference: payments.Difference) => ({
  payment: difference.paymentId,
  status: difference.status ?? '–',
  RUB: difference.amountKopecks === null ? '–' : formatKopecks(difference.amountKopecks),
  order: difference.orderId ?? '–',
  'order state': difference.orderState ?? '–',
  'order RUB': difference.orderKopecks === null ? '–' : formatKopecks(difference.orderKopecks),
});

export const refundCommands = (command: DatabaseCommand) =>
  group('refund', 'refunds that recipients made', [
    command('read', 'read refunds from the payment gateway now, and book those that are not booked yet', read)
      .option('--since <time>', 'made since this time, such as 2026-11-15T10:00:00Z', instant)
      .option('--payment <payment>', 'of one payment')
      .hook('preAction', either('since', 'payment', 'use either --since or --payment')),
  ]);

/** The service books only refunds that were made since it knows of them; here an operator decides for older ones. */
async function read(context: Context, { since, payment }: { since?: Date; payment?: string }) {
  const { audit } = context;
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const found = await withGateway(context, gateway => {
    const { pool, clock } = audit;
    const alarms = createAlarms({ db: pool, clock, log });
    const deps = { pool, db: pool, clock, gateway, log, alarms, signals: payments.createPaymentSignals() };
    return since ? payments.readRefunds(deps, since) : ofPayment(context, payment!, deps);
  }).catch(async error => {
    // Some of a list may have been booked by then.
    const after = { since, failed: true };
    if (since) await recordChange(audit.pool, audit, { action: 'refund.read', subject: 'refunds', after });
    throw error;
  });
  if (!found) refuse('no_refunds_list', 'The payment gateway has no list of refunds: use --payment.');
  const booked = found.verdicts.filter(verdict => verdict === 'booked').length;
  if (booked > 0)
    await recordChange(audit.pool, audit, {
      action: 'refund.read',
      subject: payment ?? 'refunds',
      after: { since, booked },
    });
  return describeRefunds(found, booked);
}

async function ofPayment(
  { audit }: Context,
  text: string,
  deps: Parameters<typeof payments.readRefundsOf>[0],
) {
  const paymentId = parseId('pay', text);
  const payment = paymentId && (await payments.findPaymentAnywhere(audit.pool, paymentId));
  if (payment?.mode !== 'live') refuse('no_payment', `There is no live payment ${text}: check the ID.`);
  return payments.readRefundsOf(deps, payment);
}

function describeRefunds({ refunds, verdicts, failure }: payments.ReadRefunds, booked: number): Output {
  const rows = refunds.map((refund, index) => ({
    refund_id: refund.refundId,
    payment_id: refund.paymentId,
    amount_kopecks: Number(refund.amountKopecks),
    refunded_at: refund.createdAt.toISOString(),
    outcome: verdicts[index]!,
  }));
  const { json, text } = listing({ booked, refunds: rows }, 'refunds', {
    refund: 'refund_id',
    payment: 'payment_id',
    RUB: one => formatKopecks(BigInt(one.amount_kopecks)),
    'made (UTC)': 'refunded_at',
    outcome: 'outcome',
  });
  const summary = [`Booked now: ${booked}.`];
  if (failure) summary.push(`Some could not be booked: ${failure.message}. Run the command again later.`);
  const shown =
    rows.length === 0 ? 'The payment gateway lists no refunds.' : `${text}\n\n${summary.join('\n')}`;
  return { isBad: failure !== undefined, json, text: shown };
}

/** Loaded only here: other commands do not need the service and start faster without it. */
const startBank: typeof startSimulator = async (...args) =>
  (await import('../runtime/index.ts')).startSimulator(...args);

/** The payment gateway of the settings, or the simulator, while the work lasts. */
async function withGateway<Result>(
  { audit, settings, progress }: Context,
  work: (gateway: Gateway) => Promise<Result>,
): Promise<Result> {
  if (!settings.gatewayUrl) requireDataDir(settings);
  const bank = settings.gatewayUrl ? undefined : await startBank(settings.dataDir, progress);
  const gateway = createHttpGateway({
    url: bank?.url ?? settings.gatewayUrl!,
    token: bank?.token ?? settings.gatewayToken,
    clock: audit.clock,
  });
  try {
    return await work(gateway);
  } finally {
    await gateway.close();
    await bank?.close();
  }
}
