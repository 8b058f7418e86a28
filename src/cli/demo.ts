import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import { listPartners } from '../partners/index.ts';
import { isStale, readCurrentRate } from '../rates/index.ts';
import {
  type BankSide,
  type Cleanup,
  hasForeignOrders,
  shutDown,
  singleProcess,
  startService,
  startSimulator,
  withBank,
} from '../runtime/index.ts';
import { countDeliveries } from '../webhooks/index.ts';
import { demoMinutes, demoPayments } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { payMany, type Tally } from './demo-payments.ts';
import { closeShops, demonstration, openShops, startReceivers } from './demo-shops.ts';
import { type Output, progressBar, table } from './output.ts';
import { RefusedError } from './refused.ts';

/**
 * Payments of the demonstration are made now, by the real service through its API. They are not dated back over a past
 * day: the bank side would have them at another time than we, so that reconciliation would be right to raise alarms, and
 * the books of an account never go back. Whoever wants charts with a shape spreads them over some minutes.
 */
export function demoCommand(withDatabase: WithDatabase): Command {
  return command('demo', 'fill the pages of the console: invented shops that pay through the simulator')
    .option('--payments <count>', 'how many payments (up to 10000)', demoPayments, 500)
    .option('--minutes <count>', 'over how many minutes (default: as fast as it goes)', demoMinutes, 0)
    .action(({ json, payments, minutes }) =>
      withDatabase(json, context => demonstrate(context, payments, minutes * 60_000)),
    );
}

async function demonstrate(context: CommandContext, payments: number, overMs: number): Promise<Output> {
  const { audit, settings, screen, progress } = context;
  await refuseWhereItIsSerious(context);
  const receivers = await startReceivers();
  const cleanups: Cleanup[] = [async () => receivers.close()];
  try {
    const bank = await startSimulator(settings.dataDir, progress);
    cleanups.push(bank.close);
    // Even if all of them are finished: invented payments in the books of a real bank would be for ever.
    if (await hasForeignOrders(bank, audit.pool))
      throw new RefusedError(
        'real_payments',
        'The simulator does not know the last payment of this database: it was made through another bank side. Nothing was done.',
      );
    const address = await serve(context, bank, cleanups);
    await untilThereIsARate(context);
    const shops = await openShops(context, receivers, `demonstration ${audit.clock.nowMs()}`);
    const startedAt = performance.now();
    const show = progressBar(payments, screen);
    const tally = await payMany({ address, bank, shops }, { payments, overMs }, show);
    await untilMostIsDelivered(context);
    await closeShops(context, shops);
    return describe(payments, tally, performance.now() - startedAt);
  } finally {
    await shutDown(cleanups);
  }
}

/** Only where no money can be meant: invented payments in real books would be for ever. */
async function refuseWhereItIsSerious({ audit, settings }: CommandContext): Promise<void> {
  if (settings.production)
    throw new RefusedError('production', 'There is no demonstration in production: nothing was done.');
  if (settings.gatewayUrl)
    throw new RefusedError(
      'real_gateway',
      'GATEWAY_URL is set: the demonstration only pays through the simulator. Nothing was done.',
    );
  const partners = await listPartners(audit.pool);
  const hasOthers = partners.some(({ name }) => !name.startsWith(demonstration));
  const isTrial = !settings.databaseUrl && existsSync(join(settings.dataDir, 'simulator'));
  if (hasOthers && !isTrial)
    throw new RefusedError(
      'real_partners',
      'This database has partners that are no demonstration: use a new one. Nothing was done.',
    );
}

/** A service of its own on the same database: it works beside one that runs, and without one. */
async function serve(
  { audit, settings }: CommandContext,
  bank: BankSide,
  cleanups: Cleanup[],
): Promise<string> {
  const own: Settings = {
    ...withBank(settings, bank),
    host: '127.0.0.1',
    port: 0,
    roles: ['api', 'worker'],
    logLevel: 'silent',
  };
  const database = { pool: audit.pool, description: '', close: async () => {} };
  return (await startService(own, database, singleProcess, cleanups))!;
}

const patienceMs = 15_000;

async function untilThereIsARate({ audit, settings }: CommandContext): Promise<void> {
  for (const untilMs = Date.now() + patienceMs; Date.now() < untilMs; await sleep(100)) {
    const rate = await readCurrentRate(audit.pool);
    if (rate && !isStale(rate, audit.clock, settings.rateMaxAgeSec)) return;
  }
  throw new OperatorError('There is no fresh rate: see what RATE_SOURCES says.');
}

/** The receivers end with this process. Those that refuse everything are not waited for. */
async function untilMostIsDelivered({ audit }: CommandContext): Promise<void> {
  for (const untilMs = Date.now() + patienceMs; Date.now() < untilMs; await sleep(100)) {
    const { waiting, failing } = await countDeliveries(audit.pool);
    if (waiting === failing) return;
  }
}

function describe(payments: number, tally: Tally, tookMs: number): Output {
  const outcomes = [...tally].sort(([, one], [, other]) => other - one);
  const seconds = (tookMs / 1_000).toFixed(1);
  return {
    json: { payments, duration_ms: Math.round(tookMs), outcomes: Object.fromEntries(outcomes) },
    text: [
      `${payments} payments in ${seconds} s:`,
      table(
        ['outcome', 'payments'],
        outcomes.map(([outcome, count]) => [outcome, `${count}`]),
      ),
      'Those still processing end by themselves, or wait for you on the page Review.',
    ].join('\n'),
  };
}
