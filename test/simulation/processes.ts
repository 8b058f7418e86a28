import { createAlarms } from '../../src/alarms/index.ts';
import { startBackgroundLoop } from '../../src/base/background-loop.ts';
import type { DatabaseClock } from '../../src/db/database-clock.ts';
import { NotAnsweringError } from '../../src/db/pool.ts';
import type { PaymentRequest } from '../../src/payments/create/request.ts';
import {
  type Caller,
  type Creation,
  createLeaseRelease,
  createOutcomeWaiters,
  createPayment,
  createPaymentSignals,
  createPaymentWriter,
  type PaymentSignals,
  startRecovery,
} from '../../src/payments/index.ts';
import { startDelivery } from '../../src/webhooks/index.ts';
import type { Bank } from './bank.ts';
import type { SimulatedDatabase } from './database.ts';
import { openCheckedClock } from './machines.ts';
import type { Model } from './model.ts';
import { referenceKey } from './references.ts';
import type { Polling } from './scheduler.ts';
import type { Webhooks } from './webhooks.ts';
import type { World } from './world.ts';

export type Answer = { outcome: 'broken' } | { outcome: 'error' } | Creation;

/** One process of the service: the real code with a simulated clock, database connection and bank side. */
export interface ServiceProcess {
  name: string;
  instance: number;
  /** It has stalled at some time, so it may answer late. */
  hasStalled: boolean;
  /** As a partner sees it: every outcome is an answer, a crash of the process too. */
  request(caller: Caller, request: PaymentRequest, answered: (answer: Answer) => void): void;
}

export interface Processes {
  running(): ServiceProcess[];
  start(): void;
  kill(process: ServiceProcess): Promise<void>;
  isAlive(instance: number): boolean;
  isRunning(name: string): boolean;
  /** It is dead or has stalled at some time. */
  hasFailed(name: string): boolean;
  /** Without other faults, payments of a dead process are taken over at once. */
  checkAbandonedLeases(leaseHolders: number[]): Promise<void>;
}

const takenOverWithinMs = 10_000;
/** Of the heartbeat: less often than in the service, which is harder for the clock and quicker to run. */
const beatMs = 5_000;

interface Parts {
  database: SimulatedDatabase;
  bank: Bank;
  model: Model;
  /** In runs where partners have webhooks. */
  webhooks: Webhooks | undefined;
}

export function createProcesses(world: World, { database, bank, model, webhooks }: Parts): Processes {
  const { random, scheduler, trace } = world;
  const running = new Map<number, ServiceProcess>();
  const partnersWaiting = new Map<ServiceProcess, Set<(answer: Answer) => void>>();
  const diedMs = new Map<number, number>();
  let started = 0;

  function start(): void {
    started += 1;
    const instance = started;
    const name = `process ${instance}`;
    trace.add(name, 'starts');
    void openClock(name).then(clock => run(name, instance, clock));
  }

  /** A process that cannot reach the database is started again. */
  async function openClock(name: string): Promise<DatabaseClock> {
    for (;;)
      try {
        return await openCheckedClock(world, name, database.connectionOf(name));
      } catch (error) {
        expectLostConnection(error);
      }
  }

  /** The clock of a worker that polls. */
  const pollingClock = (name: string, clock: DatabaseClock, polling: Polling) => ({
    ...clock,
    sleep: scheduler.clockOf(name, polling).sleep,
  });

  /** The samples of the heartbeat; before there could be work one is always recent. */
  function startHeartbeat(name: string, clock: DatabaseClock): void {
    const nextDueMs = webhooks ? database.nextDeliveryMs : database.nextDueMs;
    const db = database.connectionOf(name);
    startBackgroundLoop({
      clock: pollingClock(name, clock, { everyMs: [beatMs], nextDueMs, leadMs: beatMs }),
      everyMs: beatMs,
      work: () => clock.measure(db),
      onError: expectLostConnection,
    });
  }

  function run(name: string, instance: number, clock: DatabaseClock): void {
    const db = database.connectionOf(name);
    const log = { warn: watch, error: watch };
    const signals = createPaymentSignals();
    const deps = {
      db,
      clock,
      log,
      gateway: bank.portOf(name),
      referenceKey,
      writer: createPaymentWriter(db, clock),
      signals,
      outcomeWaiters: createOutcomeWaiters(db, clock, signals),
      alarms: createAlarms({ db, clock, log }),
      heartbeat: { instance, findDead: findDeadFor(name, instance) },
      leaseRelease: createLeaseRelease(db, clock, instance),
      qrHosts: ['qr.nspk.ru'],
      rateMaxAgeSec: 300,
      answerWithinMs: 60_000,
    };
    startRecovery({
      ...deps,
      clock: pollingClock(name, clock, { everyMs: [500, 1_500], nextDueMs: database.nextDueMs }),
    });
    startHeartbeat(name, clock);
    if (webhooks) startSending(webhooks, name, deps);
    trace.add(name, 'works');

    const waiting = new Set<(answer: Answer) => void>();
    const process: ServiceProcess = {
      name,
      instance,
      hasStalled: false,
      request: (caller, request, answered) => {
        waiting.add(answered);
        const answer = (result: Answer) => {
          if (waiting.delete(answered)) answered(result);
        };
        createPayment(deps, caller, request).then(answer, error => {
          expectLostConnection(error);
          answer({ outcome: 'error' });
        });
      },
    };
    running.set(instance, process);
    partnersWaiting.set(process, waiting);
  }

  /** Woken by the end of a payment, as in the service. */
  function startSending(
    { vault, receivers, pausesSec }: Webhooks,
    name: string,
    deps: Omit<Parameters<typeof startDelivery>[0], 'vault' | 'sender' | 'webhookRetryScheduleSec'> & {
      clock: DatabaseClock;
      signals: PaymentSignals;
    },
  ): void {
    const delivery = startDelivery({
      ...deps,
      clock: pollingClock(name, deps.clock, {
        everyMs: [200, 1_500, 10_000],
        nextDueMs: database.nextDeliveryMs,
      }),
      vault,
      sender: receivers.portOf(name),
      webhookRetryScheduleSec: pausesSec,
    });
    deps.signals.paymentFinished.subscribe(delivery.runNow);
  }

  /** A lost database connection is the only error that is expected; any other one is a bug. */
  /** Or, after a stall, no answer about an undone payment in time. */
  function expectLostConnection(error: unknown): void {
    if (error instanceof NotAnsweringError) return;
    if (!(error instanceof Error) || error.message !== 'Connection terminated unexpectedly')
      world.violate('no error but a lost connection', error instanceof Error ? `${error.stack}` : `${error}`);
  }

  const watch = (details: { err?: unknown; kind?: string; subject?: string }) => {
    if (details.err) expectLostConnection(details.err);
    if (details.kind && details.subject) model.wasLogged(details.kind, details.subject);
  };

  const findDeadFor = (processName: string, instance: number) => (instances: number[]) =>
    new Promise<number[]>(resolve => {
      const run = () => {
        const dead = instances.filter(i => !running.has(i) || random.chance(world.faults.presumedDead));
        for (const other of dead) webhooks?.model.presumedDead(instance, other);
        resolve(dead);
      };
      scheduler.after(random.between(0, 3), { processName, run });
    });

  return {
    running: () => [...running.values()],
    start,
    isAlive: instance => running.has(instance),
    isRunning: name => [...running.values()].some(process => process.name === name),
    hasFailed: name => ![...running.values()].some(process => process.name === name && !process.hasStalled),
    checkAbandonedLeases: async leaseHolders => {
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
    kill: async process => {
      running.delete(process.instance);
      diedMs.set(process.instance, scheduler.nowMs());
      world.counts.crashes += 1;
      trace.add(process.name, 'dies');
      webhooks?.sending.crashed(process.name);
      for (const { at, afterCrash } of scheduler.removeProcess(process.name))
        if (afterCrash && random.chance(0.5)) scheduler.after(at - scheduler.nowMs(), { run: afterCrash });
      for (const answered of partnersWaiting.get(process)!) answered({ outcome: 'broken' });
      await database.changed();
    },
  };
}
