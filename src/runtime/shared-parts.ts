import { type Alarms, createAlarms } from '../alarms/index.ts';
import type { Clock } from '../base/clock.ts';
import type { Settings } from '../base/settings.ts';
import type { Database, PoolAndClock } from '../db/database.ts';
import { type Heartbeat, startHeartbeat } from '../db/heartbeat.ts';
import { type IncarnationWatch, watchIncarnation } from '../db/incarnation/watch.ts';
import { openOutsidePools } from '../db/outside-pools.ts';
import { withCircuitBreaker } from '../db/pool.ts';
import { followActiveKey, openKeyring } from '../db/secret-key.ts';
import { beginAfterNodeChange } from '../db/shards/node-history.ts';
import { shardsOf } from '../db/shards/shards.ts';
import { openDepositChains } from '../deposits/index.ts';
import { createCallLog, createHttpGateway, type HttpGateway } from '../gateway/index.ts';
import { createPaymentSignals, createReferenceSealer, openShards } from '../payments/index.ts';
import { createRequestLog, type RequestLog } from '../request-log/index.ts';
import { createTracer, type Tracer } from '../telemetry/index.ts';
import { createSender, createSigningKeys, createVault } from '../webhooks/index.ts';
import { startArchiveWatch } from './archive-watch.ts';
import { startClockWatch } from './clock-watch.ts';
import type { Cleanup } from './graceful-shutdown.ts';
import { createLog } from './log.ts';
import { createMeters } from './meters.ts';
import { startShardCopies } from './shard-copies.ts';
import { startShardWatch } from './shard-watch.ts';

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
  const beats = await startHeartbeat(pool, {
    read: clock.measure,
    keyring,
    onUnknownKey: () => leave?.('The secret key was replaced while this process had no connection.'),
    onBeat: databaseWorks,
    onSilence: databaseFailed,
  });
  await followActiveKey(pool, keyring).catch(async error => {
    await beats.close();
    throw error;
  });
  const watch = watchHistory(settings, pool, clock, databaseRefused);
  const heartbeat = withWatch(beats, watch);
  cleanups.push(heartbeat.close, startClockWatch({ clock, alarms, heartbeat }));
  const archive = startArchiveWatch({ pool, clock }, alarms, heartbeat);
  cleanups.push(archive.stop);
  if (leave) cleanups.push(startShardWatch({ pool, clock, instance: heartbeat.instance, leave }));
  const outside = openOutsidePools(pool);
  cleanups.push(outside.close);

  const { isDatabaseAnswering } = heartbeat;
  const requestLog = openRequestLog(settings, { db: outside.requestLog, clock, log, isDatabaseAnswering });
  if (requestLog) cleanups.push(requestLog.stop);
  const { gatewayMetrics } = meters;
  const tracer = openTracer(settings, clock, log);
  if (tracer) cleanups.push(tracer.stop);
  const gateway = openGateway(settings, clock, alarms, { tracer, setBreaker: gatewayMetrics.setBreaker });
  const signals = createPaymentSignals();
  const payments = openShards({
    ...settings,
    ...meters,
    pool,
    clock,
    signals,
    heartbeat,
    tracer,
    withCircuitBreaker: one => withCircuitBreaker(one, heartbeat.canCommit, watch?.afterPause),
    onShardState: (shard, whyNot) => void reportShard(alarms, shard, whyNot),
    onNodeChanged: async change => {
      log.warn({ shard: change.shard }, change.message);
      await beginAfterNodeChange({ pool, clock }, change).catch(err =>
        log.error({ err, shard: change.shard }, 'the next incarnation cannot begin: the shard stays closed'),
      );
    },
  });
  const callLogs = payments.all().map(({ node }) => createCallLog({ db: node, clock, log }));
  gatewayMetrics.countLost(() => callLogs.reduce((sum, { lost }) => sum + lost(), 0));
  const shards = shardsOf(
    payments.all().map(shard => ({
      ...shard,
      gateway: gateway.reportingTo(call => {
        callLogs[shard.number]!.record(call);
        gatewayMetrics.observeCall(call);
      }),
    })),
    payments.whyNot,
  );
  const sender = createSender({ allowPrivate: settings.webhookAllowPrivate });
  cleanups.push(...callLogs.map(({ stop }) => stop), gateway.close, payments.close, sender.close);
  cleanups.push(startShardCopies({ pool, clock, log, shards }));

  return {
    ...settings,
    ...meters,
    tracer,
    log,
    pool,
    db: withCircuitBreaker(pool, heartbeat.canCommit, watch?.afterPause),
    outside,
    shards,
    whyShardNot: payments.whyNot,
    archive,
    codeGuard: payments.guard,
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
    chains: await openDepositChains(settings.depositChains),
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

/** Off by default: then nothing is made, stored or sent. */
const openTracer = (
  { otlpEndpoint: endpoint }: Settings,
  clock: Clock,
  log: Parameters<typeof createTracer>[0]['log'],
): Tracer | undefined => (endpoint === undefined ? undefined : createTracer({ endpoint, clock, log }));

interface GatewayObserver {
  setBreaker(isOpen: boolean): void;
  tracer: Tracer | undefined;
}

function openGateway(
  settings: Settings,
  clock: Clock,
  alarms: Alarms,
  { setBreaker, tracer }: GatewayObserver,
): HttpGateway {
  let reported = Promise.resolve();
  return createHttpGateway({
    url: settings.gatewayUrl!,
    token: settings.gatewayToken,
    clock,
    tracer,
    onReachable: isReachable => {
      setBreaker(!isReachable);
      // One report after the other, so that the latest state is the one that is stored.
      reported = reported.then(() => alarms.report('gateway', isReachable ? [] : [gatewayUnreachable]));
    },
  });
}

const reportShard = (alarms: Alarms, shard: number, whyNot: string | undefined) =>
  whyNot === undefined
    ? alarms.clear('shard_unreachable', `shard ${shard}`)
    : alarms.raise({
        kind: 'shard_unreachable',
        subject: `shard ${shard}`,
        detail: `The tables of the shard cannot be used (${whyNot}): its partners get 503 until they can.`,
      });

const gatewayUnreachable = {
  kind: 'gateway_unreachable',
  detail: 'The payment gateway does not respond: new payments are refused until it does.',
};
