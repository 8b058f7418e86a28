import { type Alarms, createAlarms } from '../alarms/index.ts';
import type { Clock } from '../base/clock.ts';
import type { Settings } from '../base/settings.ts';
import type { PoolAndClock } from '../db/database.ts';
import { type Heartbeat, startHeartbeat } from '../db/heartbeat.ts';
import { type IncarnationWatch, watchIncarnation } from '../db/incarnation/watch.ts';
import { createPartnerReads, openOutsidePools } from '../db/outside-pools.ts';
import { withCircuitBreaker } from '../db/pool.ts';
import { openSecretKey } from '../db/secret-key.ts';
import { createCallLog, createHttpGateway, type Gateway } from '../gateway/index.ts';
import {
  createLeaseRelease,
  createOutcomeWaiters,
  createPaymentSignals,
  createPaymentWriter,
  referenceKeyOf,
} from '../payments/index.ts';
import { createRequestLog, type RequestLog } from '../request-log/index.ts';
import { createSender, createVault } from '../webhooks/index.ts';
import { startClockWatch } from './clock-watch.ts';
import type { Cleanup } from './graceful-shutdown.ts';
import { createLog } from './log.ts';

export type SharedParts = Awaited<ReturnType<typeof createSharedParts>>;

/** What the roles of a process share. There is one of each per process. */
export async function createSharedParts(
  settings: Settings,
  { pool, clock }: PoolAndClock,
  cleanups: Cleanup[],
) {
  const { log, databaseWorks, databaseFailed, databaseRefused } = createLog(settings, clock);
  const secretKey = await openSecretKey(settings, pool, 'refuse');
  const alarms = createAlarms({ db: pool, clock, log });
  const beats = await startHeartbeat(pool, {
    read: clock.measure,
    onBeat: databaseWorks,
    onSilence: databaseFailed,
  });
  const watch = watchHistory(settings, pool, clock, databaseRefused);
  const heartbeat = withWatch(beats, watch);
  cleanups.push(heartbeat.close, startClockWatch({ clock, alarms, heartbeat }));
  const db = withCircuitBreaker(pool, heartbeat.canCommit, watch?.afterPause);
  const outside = openOutsidePools(pool);
  cleanups.push(outside.close);

  const { isDatabaseAnswering } = heartbeat;
  const requestLog = openRequestLog(settings, { db: outside.requestLog, clock, log, isDatabaseAnswering });
  if (requestLog) cleanups.push(requestLog.stop);
  const callLog = createCallLog({ db, clock, log });
  const gateway = openGateway(settings, clock, alarms, callLog.record);
  const leaseRelease = createLeaseRelease(db, clock, heartbeat.instance);
  const sender = createSender({ allowPrivate: settings.webhookAllowPrivate });
  cleanups.push(callLog.stop, gateway.close, leaseRelease.stop, sender.close);

  const signals = createPaymentSignals();
  return {
    ...settings,
    log,
    pool,
    db,
    outside,
    reads: createPartnerReads(outside.partnerReads, clock, heartbeat.isDatabaseAnswering),
    clock,
    clockOffset: clock.offset,
    secretKey,
    alarms,
    heartbeat,
    confirmHistory: watch?.confirm ?? (async () => {}),
    requestLog,
    gateway,
    referenceKey: referenceKeyOf(secretKey),
    leaseRelease,
    signals,
    outcomeWaiters: createOutcomeWaiters(db, clock, signals),
    writer: createPaymentWriter(db, clock, settings),
    sender,
    vault: createVault(secretKey),
  };
}

const openRequestLog = (
  { roles, requestLogDays }: Settings,
  deps: Parameters<typeof createRequestLog>[0],
): RequestLog | undefined =>
  roles.includes('api') && requestLogDays > 0 ? createRequestLog(deps) : undefined;

/** New connections to the embedded server always lead to the same one: it is in our own folder. */
const watchHistory = (
  { databaseUrl }: Settings,
  ...parts: Parameters<typeof watchIncarnation>
): IncarnationWatch | undefined => (databaseUrl === undefined ? undefined : watchIncarnation(...parts));

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

function openGateway(
  settings: Settings,
  clock: Clock,
  alarms: Alarms,
  onCall: ReturnType<typeof createCallLog>['record'],
): Gateway {
  let reported = Promise.resolve();
  return createHttpGateway({
    url: settings.gatewayUrl!,
    token: settings.gatewayToken,
    clock,
    onCall,
    onReachable: isReachable => {
      // One report after the other, so that the latest state is the one that is stored.
      reported = reported.then(() => alarms.report('gateway', isReachable ? [] : [gatewayUnreachable]));
    },
  });
}

const gatewayUnreachable = {
  kind: 'gateway_unreachable',
  detail: 'The payment gateway does not respond: new payments are refused until it does.',
};
