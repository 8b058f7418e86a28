import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import { listPartners } from '../partners/index.ts';
import { isStale, readCurrentRate } from '../rates/index.ts';
import * as runtime from '../runtime/index.ts';
import { countDeliveries } from '../webhooks/index.ts';
import { type Context, requireDataDir } from './command.ts';
import { payMany, type Tally } from './demo-payments.ts';
import * as demoShops from './demo-shops.ts';
import { type Output, progressBar, refuse, table } from './output.ts';

/**
 * Demo payments are made now, by the real service through its API. They are not backdated: the gateway would have them
 * at other times, so reconciliation would raise alarms, and the entries of an account never go back in time. For charts
 * with a shape, spread the payments over some minutes.
 */
export async function demonstrate(context: Context, payments: number, overMs: number) {
  const { audit, settings, terminal, progress } = context;
  await checkPartners(context);
  const receivers = await demoShops.startReceivers();
  const cleanups: runtime.Cleanup[] = [async () => receivers.close()];
  const shops: demoShops.Shop[] = [];
  const revokeKeys = () => demoShops.closeShops(context, shops);
  try {
    requireDataDir(settings);
    const bank = await runtime.startSimulator(settings.dataDir, progress);
    cleanups.push(bank.close);
    // Even if all payments are finished: entries cannot be deleted, so demo payments would stay among real ones.
    if (await runtime.hasForeignOrders(bank, audit))
      refuse(
        'real_payments',
        'The last payment of this database is not in the simulator: it was made through another payment gateway. Nothing was changed.',
      );
    const address = await serve(context, bank, cleanups);
    await waitForRate(context);
    context.onInterrupt(revokeKeys);
    await demoShops.openShops(context, { receivers, run: `demonstration ${audit.clock.nowMs()}`, shops });
    const startedAt = systemClock.monotonicMs();
    const show = progressBar(payments, terminal.stderr);
    const tally = await payMany({ address, bank, shops }, { payments, overMs }, show);
    await waitForDeliveries(context);
    return describe(payments, tally, systemClock.monotonicMs() - startedAt);
  } finally {
    // Everything else ends even if the database is gone.
    await revokeKeys().finally(() => runtime.shutDown(cleanups));
  }
}

/** Entries cannot be deleted, so the demo runs only where no real money can be involved. */
async function checkPartners({ audit, settings }: Context): Promise<void> {
  if (settings.production) refuse('production', 'The demo does not run in production. Nothing was changed.');
  if (settings.gatewayUrl)
    refuse(
      'real_gateway',
      'GATEWAY_URL is set: the demo only pays through the simulator. Nothing was changed.',
    );
  const partners = await listPartners(audit.pool);
  const hasOthers = partners.some(({ name }) => !name.startsWith(demoShops.demoPrefix));
  const isTrial = !settings.databaseUrl && existsSync(join(settings.dataDir, 'simulator'));
  if (hasOthers && !isTrial)
    refuse(
      'real_partners',
      'This database has partners that are not from the demo: use a new database. Nothing was changed.',
    );
  demoShops.refuseWithoutShops(partners);
}

/** A separate service on the same database, so that the demo works whether or not another one runs. */
async function serve({ audit, settings }: Context, bank: runtime.BankSide, cleanups: runtime.Cleanup[]) {
  const own: Settings = {
    ...runtime.withBank(settings, bank),
    host: '127.0.0.1',
    port: 0,
    roles: ['api', 'worker'],
    logLevel: 'silent',
  };
  return (await runtime.startService(own, audit, runtime.createSingleProcess(), cleanups))!;
}

const maxWaitMs = 15_000;

/** Whether it came true in time. */
async function comesTrue(isTrue: () => Promise<boolean>): Promise<boolean> {
  const untilMs = systemClock.monotonicMs() + maxWaitMs;
  while (systemClock.monotonicMs() < untilMs) {
    if (await isTrue()) return true;
    await systemClock.sleep(100);
  }
  return false;
}

async function waitForRate({ audit, settings }: Context): Promise<void> {
  const isFresh = await comesTrue(async () => {
    const rate = await readCurrentRate(audit.pool);
    return rate !== undefined && !isStale(rate, audit.clock, settings.rateMaxAgeSec);
  });
  if (!isFresh) throw new OperatorError('There is no up-to-date rate: check RATE_SOURCES.');
}

/** The receivers stop with this process. Deliveries to the refusing one are not waited for. */
const waitForDeliveries = ({ audit }: Context) =>
  comesTrue(async () => {
    const { waiting, failing } = await countDeliveries(audit.pool);
    return waiting === failing;
  });

function describe(payments: number, tally: Tally, tookMs: number): Output {
  const outcomes = [...tally].sort(([, one], [, other]) => other - one);
  const seconds = (tookMs / 1_000).toFixed(1);
  return {
    json: { payments, duration_ms: Math.round(tookMs), outcomes: Object.fromEntries(outcomes) },
    text: [
      `${payments} payments in ${seconds} s:`,
      table(outcomes, ([outcome, count]) => ({ outcome, payments: count })),
      'Payments that are still processing finish automatically or are on the Manual review page of the console.',
    ].join('\n'),
  };
}
