import { type Alarms, createAlarms } from '../alarms/index.ts';
import type { Clock } from '../base/clock.ts';
import type { Settings } from '../base/settings.ts';
import { type IncarnationWatch, watchIncarnation } from '../db/history/index.ts';
import type { Database, PoolAndClock } from '../db/index.ts';
import { openOutsidePools, withCircuitBreaker } from '../db/postgres/index.ts';
import { type Heartbeat, startHeartbeat } from '../db/processes/index.ts';
import { followActiveKey, openKeyring } from '../db/secrets/index.ts';
import { openDepositChains } from '../deposits/index.ts';
import { createCallLog, createHttpGateway, type Gateway, type GatewayCall } from '../gateway/index.ts';
import { createPaymentParts, createPaymentSignals, createReferenceSealer } from '../payments/index.ts';
import { createRequestLog } from '../request-log/index.ts';
import { createTracer, type Tracer } from '../telemetry/index.ts';
import { createSender, createSigningKeys, createVault } from '../webhooks/index.ts';
import { startArchiveWatch } from './archive-watch.ts';
import { startClockWatch } from './clock-watch.ts';
import type { Cleanup } from './graceful-shutdown.ts';
import { createLog } from './log.ts';
import { createMeters } from './meters.ts';

export type SharedParts = Awaited<ReturnType<typeof createSharedParts>>;

/** What the roles of a process share. There is one of each per process. */
export async function createSharedParts(
  settings: Settings,
  { pool, clock, leave }: PoolAndClock & Partial<Pick<Database, 'leave'>>,
  cleanups: Cleanup[],
) {
  const { log, databaseWorks, databaseFailed, databaseRefused } = createLog(settings, clock);
  const meters = createMeters();
  const keyring = await openKeyring(settings, pool, 'refuse');
  const alarms = createAlarms({ db: pool, clock, log });
  const beats = await startHeartbeat(
    { pool, clock },
    {
      measure: clock.measure,
      keyring,
      onUnknownKey: () => leave?.('The secret key was replaced while this process had no connection.'),
      onBeat: databaseWorks,
      onSilence: databaseFailed,
    },
  );
  await followActiveKey(pool, keyring).catch(async error => {
    await beats.close();
    throw error;
  });
  // New connections to the embedded server always lead to the same one: it is in our own folder.
  const watch =
    settings.databaseUrl === undefined ? undefined : watchIncarnation(pool, clock, databaseRefused);
  const heartbeat = withWatch(beats, watch);
  cleanups.push(heartbeat.close, startClockWatch({ clock, alarms, heartbeat }));
  const archive = startArchiveWatch({ pool, clock }, alarms, heartbeat);
  cleanups.push(archive.stop);
  const outside = openOutsidePools(pool);
  cleanups.push(outside.close);

  const { isDatabaseAnswering } = heartbeat;
  const requestLog =
    settings.roles.includes('api') && settings.requestLogDays > 0
      ? createRequestLog({ db: outside.requestLog, clock, log, isDatabaseAnswering })
      : undefined;
  if (requestLog) cleanups.push(requestLog.stop);
  const { gatewayMetrics } = meters;
  // Off by default: then nothing is made, stored or sent.
  const { otlpEndpoint: endpoint } = settings;
  const tracer = endpoint === undefined ? undefined : createTracer({ endpoint, clock, log });
  if (tracer) cleanups.push(tracer.stop);
  const signals = createPaymentSignals();
  const db = withCircuitBreaker(pool, heartbeat.canCommit, watch?.afterPause);
  const { close: closePayments, ...payments } = createPaymentParts({
    ...settings,
    ...meters,
    pool,
    db,
    clock,
    signals,
    heartbeat,
    tracer,
  });
  const callLog = createCallLog({ db, clock, log });
  gatewayMetrics.countLost(callLog.lost);
  const gateway = openGateway(settings, clock, alarms, {
    tracer,
    setBreaker: gatewayMetrics.setBreaker,
    onCall: call => {
      callLog.record(call);
      gatewayMetrics.observeCall(call);
    },
  });
  const sender = createSender({ clock, allowPrivate: settings.webhookAllowPrivate });
  cleanups.push(callLog.stop, gateway.close, closePayments, sender.close);

  return {
    ...settings,
    ...meters,
    tracer,
    log,
    pool,
    db,
    outside,
    ...payments,
    archive,
    clock,
    clockOffset: clock.offset,
    keyring,
    alarms,
    heartbeat,
    confirmHistory: watch?.confirm ?? (async () => {}),
    requestLog,
    gateway,
    references: createReferenceSealer(keyring),
    signals,
    sender,
    vault: createVault(keyring),
    signingKeys: createSigningKeys(pool, clock, keyring, log),
    chains: await openDepositChains(settings.depositChains, clock),
  };
}

/** While it is not known whether this is the current history, the database counts as unreachable. */
const withWatch = (heartbeat: Heartbeat, watch: IncarnationWatch | undefined): Heartbeat =>
  watch
    ? {
        ...heartbeat,
        isDatabaseAnswering: () => heartbeat.isDatabaseAnswering() && watch.isVerified(),
        canCommit: () => heartbeat.canCommit() && watch.isVerified(),
        close: async () => void (await Promise.all([heartbeat.close(), watch.stop()])),
      }
    : heartbeat;

interface GatewayObserver {
  setBreaker(isOpen: boolean): void;
  onCall(call: GatewayCall): void;
  tracer: Tracer | undefined;
}

function openGateway(
  settings: Settings,
  clock: Clock,
  alarms: Alarms,
  { setBreaker, onCall, tracer }: GatewayObserver,
): Gateway {
  let reported = Promise.resolve();
  return createHttpGateway({
    url: settings.gatewayUrl!,
    token: settings.gatewayToken,
    clock,
    tracer,
    onCall,
    onReachable: isReachable => {
      setBreaker(!isReachable);
      // One report after the other, so that the latest state is the one that is stored.
      reported = reported.then(() => alarms.report('gateway', isReachable ? [] : [gatewayUnreachable]));
    },
  });
}

const gatewayUnreachable = {
  kind: 'gateway_unreachable',
  detail: 'The payment gateway does not respond: new payments are refused until it does.',
};
