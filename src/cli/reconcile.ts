import type { Command } from 'commander';
import type { Clock } from '../base/clock.ts';
import { formatKopecks } from '../base/money.ts';
import { createHttpGateway } from '../gateway/index.ts';
import { type Difference, type DifferenceKind, differenceObject, reconcileDay } from '../payments/index.ts';
import { startSimulator } from '../runtime/index.ts';
import { day } from './arguments.ts';
import { type CommandContext, command, requireDataDir, type WithDatabase } from './command.ts';
import { type Output, table } from './output.ts';

const dayMs = 86_400_000;

export function reconcileCommand(withDatabase: WithDatabase): Command {
  return command(
    'reconcile',
    "compare a day's live payments with the bank side's orders; exits with 1 if they differ",
  )
    .option('--day <day>', 'of creation, UTC (default: today)', day)
    .action(({ json, day }) =>
      withDatabase(json, context => run(context, day ?? startOfToday(context.audit.clock))),
    );
}

const startOfToday = (clock: Clock) => new Date(Math.floor(clock.nowMs() / dayMs) * dayMs);

async function run({ audit, settings, progress }: CommandContext, from: Date): Promise<Output> {
  if (!settings.gatewayUrl) requireDataDir(settings);
  const bank = settings.gatewayUrl ? undefined : await startSimulator(settings.dataDir, progress);
  const gateway = createHttpGateway({
    url: bank?.url ?? settings.gatewayUrl!,
    token: bank?.token ?? settings.gatewayToken,
    clock: audit.clock,
  });
  const startedAt = performance.now();
  const onProgress = (orders: number) => {
    if (performance.now() - startedAt > 2_000) progress(`${orders} orders read …`);
  };
  try {
    const { orders, payments, differences, isComplete } = await reconcileDay(audit, gateway, from, {
      onProgress,
    });
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
        ...Object.fromEntries(
          Object.keys(headings).map(kind => [
            kind,
            differences.filter(difference => difference.kind === kind).map(differenceObject),
          ]),
        ),
      },
      text: ok
        ? `${date} is in order: ${payments} payments, ${orders} orders, no difference.`
        : describe(differences, isComplete),
    };
  } finally {
    await gateway.close();
    await bank?.close();
  }
}

const headings: Record<DifferenceKind, string> = {
  paid_there_not_here: 'Paid there and not here',
  here_not_there: 'Here and not there',
  amounts_differ: 'Amounts that differ',
  still_open: 'Still open',
};

const incomplete =
  'There are more differences than this list has: other payments may differ too. Resolve these and compare again.';

function describe(differences: Difference[], isComplete: boolean): string {
  const parts = Object.entries(headings).flatMap(([kind, heading]) => {
    const found = differences.filter(difference => difference.kind === kind);
    return found.length === 0 ? [] : [`${heading}: ${found.length}\n${table(columns, found.map(toRow))}`];
  });
  return [...parts, ...(isComplete ? [] : [incomplete])].join('\n\n');
}

const columns = ['payment', 'here', 'RUB', 'order', 'there', 'RUB there'];

const toRow = (difference: Difference) => [
  difference.paymentId,
  difference.status ?? '–',
  difference.amountKopecks === null ? '–' : formatKopecks(difference.amountKopecks),
  difference.orderId ?? '–',
  difference.orderState ?? '–',
  difference.orderKopecks === null ? '–' : formatKopecks(difference.orderKopecks),
];
