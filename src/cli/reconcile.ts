import type { Clock } from '../base/clock.ts';
import { systemClock } from '../base/clock.ts';
import { formatKopecks } from '../base/money.ts';
import {
  type Difference,
  type DifferenceKind,
  differenceObject,
  type Reconciliation,
  reconcileDay,
} from '../payments/index.ts';
import { day } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { withGateway } from './gateway-connection.ts';
import { type Output, table } from './output.ts';

const dayMs = 86_400_000;

export const reconcileCommand = (withDatabase: WithDatabase) =>
  command(
    'reconcile',
    "compare a day's live payments with the gateway's orders; exits with 1 on discrepancies",
  )
    .option('--day <day>', 'of creation, UTC (default: today)', day)
    .action(withDatabase(run));

const startOfToday = (clock: Clock) => new Date(Math.floor(clock.nowMs() / dayMs) * dayMs);

async function run(context: CommandContext, { day: given }: { day?: Date }): Promise<Output> {
  const { audit, progress } = context;
  const from = given ?? startOfToday(audit.clock);
  const startedAt = systemClock.monotonicMs();
  const onProgress = (orders: number) => {
    if (systemClock.monotonicMs() - startedAt > 2_000) progress(`${orders} orders read …`);
  };
  return withGateway(context, async gateway => {
    const reconciliation = await reconcileDay(audit, gateway, from, { onProgress });
    const { orders, payments, differences, isComplete, refundFailure } = reconciliation;
    const ok = differences.length === 0 && isComplete;
    const date = from.toISOString().slice(0, 10);
    return {
      isBad: !ok,
      json: {
        ok,
        day: date,
        orders: Number(orders),
        payments: Number(payments),
        is_complete: isComplete,
        refund_error: refundFailure?.message ?? null,
        ...Object.fromEntries(
          Object.keys(headings).map(kind => [
            kind,
            differences.filter(difference => difference.kind === kind).map(differenceObject),
          ]),
        ),
      },
      text: ok
        ? `${date}: no discrepancies (${payments} payments, ${orders} orders).`
        : describe(reconciliation),
    };
  });
}

const headings: Record<DifferenceKind, string> = {
  paid_there_not_here: 'Paid at the gateway, not here',
  here_not_there: 'Paid here, not at the gateway',
  amounts_differ: 'Different amounts',
  still_open: 'Still processing',
  refunds_differ: 'Different refunds',
};

const incomplete = 'This list is incomplete: there are more discrepancies. Resolve these and run it again.';

function describe({ differences, isComplete, refundFailure }: Reconciliation): string {
  const parts = Object.entries(headings).flatMap(([kind, heading]) => {
    const found = differences.filter(difference => difference.kind === kind);
    return found.length === 0 ? [] : [`${heading}: ${found.length}\n${table(found, toRow)}`];
  });
  if (refundFailure) parts.push(`Orders were compared, refunds were not: ${refundFailure.message}`);
  else if (!isComplete) parts.push(incomplete);
  return parts.join('\n\n');
}

const toRow = (difference: Difference) => ({
  payment: difference.paymentId,
  status: difference.status ?? '–',
  RUB: difference.amountKopecks === null ? '–' : formatKopecks(difference.amountKopecks),
  order: difference.orderId ?? '–',
  'order state': difference.orderState ?? '–',
  'order RUB': difference.orderKopecks === null ? '–' : formatKopecks(difference.orderKopecks),
});
