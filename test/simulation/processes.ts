import { createAlarms } from '../../src/alarms/index.ts';
import { startBackgroundLoop } from '../../src/base/background-loop.ts';
import { type DatabaseClock, readClock } from '../../src/db/postgres/database-clock.ts';
import { type Beat, commitBeat } from '../../src/db/processes/process-beats.ts';
import { createOutcomeWaiters } from '../../src/payments/create/outcome-waiters.ts';
import { createPaymentSignals, startHistoryRecovery, startRecovery } from '../../src/payments/index.ts';
import { createQuoteLocker } from '../../src/payments/quotes/locker.ts';
import { createLeaseRelease } from '../../src/payments/recovery/lease-release.ts';
import { recoveryLoopsMs } from '../../src/payments/recovery/recover.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { createRateMemo } from '../../src/rates/index.ts';
import { quoteLock } from './accounts.ts';
import { type Answering, createAnswering } from './answering.ts';
import type { Bank } from './bank.ts';
import { portsOf } from './crash-points.ts';
import type { Histories, History } from './histories.ts';
import { expectLostConnection, type Joined, joinHistory, type Watcher } from './joining.ts';
import type { Keys } from './keys.ts';
import type { Model } from './model.ts';
import { references } from './past.ts';
import type { Polling } from './scheduler.ts';
import { sendingEveryMs, startSending, type Webhooks } from './webhooks.ts';
import type { World } from './world.ts';

/** One process of the service: the real code with a simulated clock, database connection and bank side. */
export interface ServiceProcess extends Answering {
  name: string;
  instance: number;
  /** The one that it joined. */
  history: History;
  /** It has stalled at some time, so it may answer late. */
  hasStalled: boolean;
}

const takenOverWithinMs = 10_000;
/** A process of a lost history notices within this time; until then the old server answers it. */
const noticedWithinMs = 5_000;
/** Then it uses no session any more, and sends orders that it has debited. */
const leavesWithinMs = 10_000;
/** Of the heartbeat: less often than in the service, which is harder for the clock and quicker to run. */
const beatMs = 5_000;

interface Parts {
  histories: Histories;
  bank: Bank;
  /** In runs where partners have webhooks. */
  webhooks: Webhooks | undefined;
  watchers: Watcher[];
  /** In runs where partners have API keys. */
  keys: Keys | undefined;
}

export function createProcesses(world: World, { histories, bank, webhooks, watchers, keys }: Parts) {
  const { random, scheduler, trace } = world;
  const running = new Map<number, ServiceProcess>();
  const diedMs = new Map<number, number>();
  const models = new Map<string, Model>();
  let started = 0;
  const expectLost = (error: unknown) => expectLostConnection(world, error);

  function start(): void {
    started += 1;
    const instance = started;
    const name = `process ${instance}`;
    const history = histories.current();
    trace.add(name, 'starts');
    void joinHistory(world, histories, { name, instance, history }).then(clock => {
      if (history !== histories.current()) start();
      else run({ name, instance, history, clock: clock! });
    });
  }

  /** All processes of the history that was just lost. */
  function leaveHistory(): void {
    for (const process of running.values()) {
      const { history, name, instance } = process;
      if (history.lostMs === undefined || history.sessionsEndMs.has(name)) continue;
      diedMs.set(instance, history.lostMs);
      const noticesMs = random.between(0, noticedWithinMs);
      history.sessionsEndMs.set(name, history.lostMs + noticesMs);
      const leave = () => kill(process);
      scheduler.after(noticesMs + random.between(0, leavesWithinMs), { processName: name, run: leave });
    }
  }

  /** The clock of a worker that polls. */
  const pollingClock = (name: string, clock: DatabaseClock, polling: Polling) => ({
    ...clock,
    sleep: scheduler.clockOf(name, polling).sleep,
  });

  /** The samples of the heartbeat; before there could be work one is always recent. */
  function startHeartbeat({ name, instance, clock, history: { database } }: Joined): void {
    const nextDueMs = webhooks ? database.nextDeliveryMs : database.nextDueMs;
    const db = database.connectionOf(name);
    startBackgroundLoop({
      clock: pollingClock(name, clock, { everyMs: [beatMs], nextDueMs, leadMs: beatMs }),
      everyMs: beatMs,
      work: async () => {
        if (!histories.mayGoBack) return void (await clock.measure(() => readClock(db)));
        const beat = commitBeat(instance);
        await clock.measure(async () => (await db.query<Beat>(beat)).rows[0]!);
      },
      onError: expectLost,
    });
  }

  function run(joined: Joined): void {
    const { name, instance, clock, history } = joined;
    const { database, model } = history;
    const { points } = world;
    const { db, gateway } = portsOf(points, name, { history, gateway: bank.portOf(name) });
    const watch = (details: { err?: unknown; kind?: string; subject?: string }) => {
      if (details.err) expectLost(details.err);
      if (details.kind && details.subject) model.wasLogged(details.kind, details.subject);
    };
    const log = { info: () => {}, warn: watch, error: watch };
    const signals = createPaymentSignals();
    const deps = {
      ...{ db, clock, log, gateway, references, signals },
      alarms: createAlarms({ db, clock, log }),
      heartbeat: { instance, findDead: findDeadFor(joined) },
      qrHosts: ['qr.nspk.ru'],
      rateMaxAgeSec: 300,
      answerWithinMs: 60_000,
      writer: createPaymentWriter(db, clock),
      quoteLocker: createQuoteLocker(db, clock, quoteLock),
      outcomeWaiters: createOutcomeWaiters(db, clock, signals),
      leaseRelease: createLeaseRelease(db, clock, instance),
      rateMemo: createRateMemo(db),
    };
    startRecovery({
      ...deps,
      clock: pollingClock(name, clock, {
        everyMs: Object.values(recoveryLoopsMs),
        nextDueMs: database.nextDueMs,
      }),
    });
    startHeartbeat(joined);
    if (histories.mayGoBack)
      startHistoryRecovery({
        ...deps,
        clock: pollingClock(name, clock, { everyMs: [5_000], nextDueMs: database.nextRoundMs }),
      });
    if (webhooks)
      startSending(world, webhooks, name, {
        ...deps,
        clock: pollingClock(name, clock, { everyMs: sendingEveryMs, nextDueMs: database.nextDeliveryMs }),
      });
    for (const { watch } of watchers)
      watch(joined, { ...deps, clockOf: polling => pollingClock(name, clock, polling) });
    trace.add(name, 'works');

    const answering = createAnswering(deps, keys?.authenticatorOf(joined), expectLost, at =>
      points?.at(name, at),
    );
    const process: ServiceProcess = { name, instance, history, hasStalled: false, ...answering };
    running.set(instance, process);
    models.set(name, model);
  }

  /** One that stands still by a script is presumed dead. */
  const isLeftForDead = ({ name }: ServiceProcess) => world.script !== undefined && scheduler.isStalled(name);

  function isAlive(history: History, instance: number): boolean {
    const process = running.get(instance);
    return process?.history === history && !isLeftForDead(process);
  }

  const findDeadFor =
    ({ name, instance, history }: Joined) =>
    (instances: number[]) =>
      new Promise<number[]>(resolve => {
        const run = () => {
          const dead = instances.filter(
            i => !isAlive(history, i) || random.chance(world.faults.presumedDead),
          );
          for (const other of dead) webhooks?.model.presumedDead(instance, other);
          resolve(dead);
        };
        scheduler.after(random.between(0, 3), { processName: name, run });
      });

  async function kill(process: ServiceProcess): Promise<void> {
    if (!running.delete(process.instance)) return;
    if (process.history.lostMs === undefined) diedMs.set(process.instance, scheduler.nowMs());
    world.counts.crashes += 1;
    trace.add(process.name, 'dies');
    webhooks?.sending.crashed(process.name);
    for (const { at, afterCrash } of scheduler.removeProcess(process.name))
      if (afterCrash && random.chance(0.5)) scheduler.after(at - scheduler.nowMs(), { run: afterCrash });
    process.breakOff();
    await process.history.database.changed();
  }

  return {
    running: () => [...running.values()],
    start,
    /** Processes of another history are dead to this one. */
    isAlive,
    /** Of the history that this process joined, running or not. */
    modelOf: (name: string) => models.get(name)!,
    isRunning: (name: string) => [...running.values()].some(process => process.name === name),
    /** It is dead or has stalled at some time. */
    hasFailed: (name: string) =>
      ![...running.values()].some(process => process.name === name && !process.hasStalled),
    /** Without other faults, payments of a dead process are taken over at once. */
    checkAbandonedLeases: async (leaseHolders: number[]) => {
      if (world.faultsStoppedMs === undefined || [...running.values()].some(({ hasStalled }) => hasStalled))
        return;
      const { faultsStoppedMs } = world;
      const isLate = (leaseHolder: number) =>
        scheduler.nowMs() - Math.max(diedMs.get(leaseHolder) ?? Number.POSITIVE_INFINITY, faultsStoppedMs) >
        takenOverWithinMs;
      if (!leaseHolders.some(isLate)) return;
      // The books are not read again after a claim, so the lease holders have to be queried.
      const { rows } = await world.pool.query<{ lease_holder: number }>(
        'SELECT DISTINCT lease_holder FROM open_payments WHERE lease_holder IS NOT NULL ORDER BY lease_holder',
      );
      for (const row of rows.filter(row => isLate(row.lease_holder)))
        world.violate('payments of a dead process are taken over at once', `process ${row.lease_holder}`);
    },
    /** The processes of a history that was just lost notice it one by one, and end. */
    leaveHistory,
    kill,
  };
}

export type Processes = ReturnType<typeof createProcesses>;
