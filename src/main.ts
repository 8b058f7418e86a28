import { type Logger, pino } from 'pino';
import { type Alarms, createAlarms } from './alarms/index.ts';
import { type ApiDeps, createServer, listen } from './api/index.ts';
import { systemClock as clock } from './base/clock.ts';
import { OperatorError } from './base/operator-error.ts';
import type { RateSourceSetting } from './base/rate-sources.ts';
import { readSettings, type Settings } from './base/settings.ts';
import { type Database, openDatabase } from './db/database.ts';
import { failingFast } from './db/pool.ts';
import { announcePresence } from './db/presence.ts';
import { openSecretKey } from './db/secret-key.ts';
import { createDemonstration, describeDemonstration } from './first-minute.ts';
import { createHttpGateway } from './gateway/index.ts';
import { createAuthenticator, createRateLimiter } from './partners/index.ts';
import {
  createHandOver,
  createPaymentWriter,
  createWaiting,
  type ReconcilerDeps,
  type RecoverDeps,
  startReconciler,
  startRecovery,
} from './payments/index.ts';
import { createRateSources, startRateRefresher } from './rates/index.ts';
import { type BankSide, startSimulator } from './simulator.ts';
import { createSender, createVault, startDelivery, startPruning } from './webhooks/index.ts';

type Closing = () => Promise<void>;

/** Wires the service together, runs it until it is told to stop, and takes it down in the opposite order. */
export async function runService(say: (line: string) => void): Promise<void> {
  const stopped = firstSignal();
  // Also while it still starts, which may take minutes when another process migrates the database.
  void stopped.then(() => leaveInTime(say));
  const settings = readSettings(process.env);
  const closings: Closing[] = [];
  try {
    const database = await openDatabase(settings, say);
    closings.push(database.close);
    await startUp(settings, database, closings, say);
    say(`Stopping on ${await stopped} …`);
  } finally {
    for (const close of closings.reverse()) await close();
  }
}

async function startUp(
  settings: Settings,
  database: Database,
  closings: Closing[],
  say: (line: string) => void,
): Promise<void> {
  const { pool } = database;
  const log = pino({ level: settings.logLevel });
  const secretKey = await openSecretKey(settings, pool);
  const bank = settings.gatewayUrl ? undefined : await startSimulator(settings.dataDir, say);
  if (bank) closings.push(bank.close);

  const alarms = createAlarms({ db: pool, clock, log });
  let reported = Promise.resolve();
  const gateway = createHttpGateway({
    url: bank?.url ?? settings.gatewayUrl!,
    token: bank?.token ?? settings.gatewayToken,
    onReachable: isReachable => {
      // One after the other, so that what is said last is what stands.
      reported = reported.then(() => alarms.report('gateway', isReachable ? [] : [gatewayUnreachable]));
    },
  });
  const authenticator = createAuthenticator(pool, clock, secretKey);
  const presence = await announcePresence(pool);
  const db = failingFast(pool, presence.isDatabaseAnswering);
  const handOver = createHandOver(db, clock, presence.instance);
  closings.push(gateway.close, authenticator.close, presence.close, handOver.stop);
  const deps = {
    ...settings,
    pool,
    db,
    clock,
    gateway,
    authenticator,
    presence,
    handOver,
    alarms,
    log,
    rateLimiter: createRateLimiter(db, clock),
    writer: createPaymentWriter(db, clock),
    waiting: createWaiting(db, clock),
    answerWithinMs: 60_000,
  };
  if (settings.roles.includes('worker')) startWork(settings, deps, bank, secretKey, closings);
  if (!settings.roles.includes('api')) return say('Kopeck is working.');

  const server = await createServer(deps);
  closings.push(() => {
    deps.waiting.stop();
    return server.close();
  });
  const address = await listen(server, settings);
  say(`Kopeck is ready at ${address}`);
  say(`  docs       ${address}/docs`);
  if (bank) say(`  bank side  ${bank.url} (simulator: make QR codes, set faults)`);
  say(`  database   ${database.description}\n`);
  const demonstration =
    bank &&
    !settings.production &&
    (await createDemonstration({ pool, clock, actor: 'first start' }, secretKey));
  say(
    demonstration
      ? describeDemonstration(demonstration, address)
      : 'Partners and keys: npx kopeck partner list',
  );
}

type Deps = ApiDeps & RecoverDeps & ReconcilerDeps & { alarms: Alarms; log: Logger };

/** What goes on by itself: unfinished payments, reconciliation, rates, and events on their way to partners. */
function startWork(
  settings: Settings,
  deps: Deps,
  bank: BankSide | undefined,
  secretKey: string,
  closings: Closing[],
): void {
  const { alarms, log } = deps;
  const refresher = startRateRefresher({
    ...deps,
    sources: createRateSources(settings.rateSources ?? simulatedFeed(bank), { clock, ...settings }),
    spreadBps: settings.rateSpreadBps,
    refreshSec: settings.rateRefreshSec,
    maxAgeSec: settings.rateMaxAgeSec,
    reportAlarms: found => alarms.report('rate', found),
    onError: err => log.error({ err }, 'the rate could not be refreshed'),
  });
  const sender = createSender({ allowPrivate: settings.webhookAllowPrivate });
  const delivery = startDelivery({ ...deps, ...settings, sender, vault: createVault(secretKey) });
  // Whoever waits for the end of a payment is woken when it has come, and then there is an event to send.
  const { wake } = deps.waiting;
  deps.waiting.wake = paymentId => {
    wake(paymentId);
    delivery.nudge();
  };
  closings.push(refresher.stop, startRecovery(deps), startReconciler(deps), sender.close, delivery.stop);
  closings.push(startPruning(deps));
}

const gatewayUnreachable = {
  kind: 'gateway_unreachable',
  detail: 'The bank side does not answer: new payments are refused until it does.',
};

/** Whatever still hangs after this long is handed over: what it was about stands in the database. */
const leaveWithinMs = 85_000;

function leaveInTime(say: (line: string) => void): void {
  const giveUp = () => {
    say('Something did not stop in time and was left where it is.');
    process.exit(1);
  };
  setTimeout(giveUp, leaveWithinMs).unref();
}

function simulatedFeed(bank: BankSide | undefined): RateSourceSetting[] {
  if (!bank)
    throw new OperatorError('RATE_SOURCES must be set with GATEWAY_URL: there is no simulator to ask.');
  return [{ kind: 'feed', name: 'simulator', url: `${bank.url}/rate` }];
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, resolve);
  });
}
