import { type Logger, pino } from 'pino';
import { type Alarms, createAlarms } from '../alarms/index.ts';
import { type ApiDeps, createAdmission, createServer, listen } from '../api/index.ts';
import { systemClock as clock } from '../base/clock.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import { startBot } from '../bot/index.ts';
import { createConsole } from '../console/index.ts';
import type { Database } from '../db/database.ts';
import { listen as listenTo } from '../db/listen.ts';
import { failingFast } from '../db/pool.ts';
import { announcePresence } from '../db/presence.ts';
import { startPruning } from '../db/prune.ts';
import { openSecretKey } from '../db/secret-key.ts';
import { createCallLog, createHttpGateway, pruneCalls } from '../gateway/index.ts';
import { createAuthenticator, createRateLimiter } from '../partners/index.ts';
import {
  createLeaseRelease,
  createOutcomeWaiters,
  createPaymentWriter,
  pruneRefusals,
  type ReconcilerDeps,
  type RecoverDeps,
  startReconciler,
  startRecovery,
} from '../payments/index.ts';
import { createRateSources, rulesChanged, startRateRefresher } from '../rates/index.ts';
import { createSender, createVault, pruneLog, startDelivery } from '../webhooks/index.ts';
import type { ClusterChannel } from './cluster-channel.ts';

/** What a process can see through in well under a second; more would only wait. */
const mostBeforeDebit = 300;

export type Cleanup = () => Promise<void>;

/** Wires the service together in this process; returns where it is listening, if it serves partners or operators. */
export async function startService(
  settings: Settings,
  { pool }: Database,
  neighbours: ClusterChannel,
  cleanups: Cleanup[],
): Promise<string | undefined> {
  const log = pino({ level: settings.logLevel });
  const secretKey = await openSecretKey(settings, pool);
  const alarms = createAlarms({ db: pool, clock, log });
  const authenticator = createAuthenticator(pool, clock, secretKey);
  const presence = await announcePresence(pool);
  const db = failingFast(pool, presence.isDatabaseAnswering);
  const calls = createCallLog({ db, clock, log });
  let reported = Promise.resolve();
  const gateway = createHttpGateway({
    url: settings.gatewayUrl!,
    token: settings.gatewayToken,
    onExchange: calls.record,
    onReachable: isReachable => {
      // One after the other, so that what is said last is what stands.
      reported = reported.then(() => alarms.report('gateway', isReachable ? [] : [gatewayUnreachable]));
    },
  });
  const leaseRelease = createLeaseRelease(db, clock, presence.instance);
  cleanups.push(authenticator.close, presence.close, calls.stop, gateway.close, leaseRelease.stop);
  const deps = {
    ...settings,
    pool,
    db,
    clock,
    gateway,
    authenticator,
    presence,
    leaseRelease,
    alarms,
    log,
    rateLimiter: createRateLimiter(db, clock),
    admission: createAdmission(mostBeforeDebit),
    writer: createPaymentWriter(db, clock),
    waiting: createOutcomeWaiters(db, clock),
    shareMetrics: neighbours.shareMetrics,
    answerWithinMs: 60_000,
  };
  if (settings.roles.includes('worker')) startWork(settings, deps, neighbours, secretKey, cleanups);
  const bot = settings.roles.includes('bot') ? startTalking(settings, deps, secretKey, cleanups) : undefined;
  const servesPartners = settings.roles.includes('api');
  const console = settings.roles.includes('console')
    ? openConsole(settings, deps, secretKey, cleanups)
    : undefined;
  if (!servesPartners && !console) return undefined;

  const server = await createServer({ ...deps, telegramReceiver: bot?.door, servesPartners, console });
  cleanups.push(async () => {
    deps.waiting.stop();
    // At once: the server waits for news that were brought to the bot, and the bot would be patient with Telegram.
    await Promise.all([server.close(), bot?.stop()]);
  });
  return listen(server, settings);
}

type Deps = ApiDeps & RecoverDeps & ReconcilerDeps & { alarms: Alarms; log: Logger };

/** What goes on by itself: unfinished payments, reconciliation, rates, and events on their way to partners. */
function startWork(
  settings: Settings,
  deps: Deps,
  neighbours: ClusterChannel,
  secretKey: string,
  cleanups: Cleanup[],
): void {
  const { alarms, log } = deps;
  const refresher = startRateRefresher({
    ...deps,
    sources: createRateSources(rateSourcesOf(settings), { clock, ...settings }),
    spreadBps: settings.rateSpreadBps,
    refreshSec: settings.rateRefreshSec,
    maxAgeSec: settings.rateMaxAgeSec,
    reportAlarms: found => alarms.report('rate', found),
    onError: err => log.error({ err }, 'the rate could not be refreshed'),
  });
  const rules = listenTo(deps.pool, rulesChanged, refresher.nudge);
  const sender = createSender({ allowPrivate: settings.webhookAllowPrivate });
  const delivery = startDelivery({ ...deps, ...settings, sender, vault: createVault(secretKey) });
  // Whoever waits for the end of a payment is woken when it has come, and then there is an event to send, by whichever
  // process sends to its partner.
  const { wake } = deps.waiting;
  deps.waiting.wake = paymentId => {
    wake(paymentId);
    delivery.runNow();
    neighbours.nudge();
  };
  neighbours.onNudge(delivery.runNow);
  const stopRecovery = startRecovery({
    ...deps,
    onStart: lookForDue => {
      deps.onTestClockMoved = () => {
        lookForDue();
        delivery.runNow();
        neighbours.nudge();
      };
    },
  });
  cleanups.push(refresher.stop, rules.close, stopRecovery, startReconciler(deps));
  cleanups.push(sender.close, delivery.stop, startPruning(deps, [pruneLog, pruneCalls, pruneRefusals]));
}

/** The chat bot, if there is a token for one. */
function startTalking(settings: Settings, deps: Deps, secretKey: string, cleanups: Cleanup[]) {
  const { telegramToken, publicUrl = `http://${settings.host}:${settings.port}` } = settings;
  if (telegramToken === undefined) return undefined;
  const sender = createSender({ allowPrivate: settings.webhookAllowPrivate });
  const vault = createVault(secretKey);
  const bot = startBot({ ...settings, ...deps, secretKey, publicUrl, telegramToken, sender, vault });
  cleanups.push(sender.close, bot.stop);
  return bot;
}

function openConsole(settings: Settings, deps: Deps, secretKey: string, cleanups: Cleanup[]) {
  const sender = createSender({ allowPrivate: settings.webhookAllowPrivate });
  cleanups.push(sender.close);
  return createConsole({ ...settings, ...deps, secretKey, sender, vault: createVault(secretKey) });
}

const gatewayUnreachable = {
  kind: 'gateway_unreachable',
  detail: 'The bank side does not answer: new payments are refused until it does.',
};

function rateSourcesOf({ rateSources }: Settings) {
  if (rateSources) return rateSources;
  throw new OperatorError('RATE_SOURCES must be set with GATEWAY_URL: there is no simulator to ask.');
}
