import { createAlarms } from '../../src/alarms/index.ts';
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
import type { Hooks } from './hooks.ts';
import type { Model } from './model.ts';
import type { World } from './world.ts';

export type Answer = { outcome: 'broken' } | { outcome: 'error' } | Creation;

/** One process of the service: the real code, on a clock, a database and a bank side that are ours. */
export interface ServiceProcess {
  name: string;
  instance: number;
  /** It was stopped for a while once, so it may keep people waiting. */
  stoodStill: boolean;
  /** As a partner sees it: whatever happens, including the death of the process, is an answer. */
  request(caller: Caller, request: PaymentRequest, answered: (answer: Answer) => void): void;
}

export interface Processes {
  running(): ServiceProcess[];
  start(): void;
  kill(process: ServiceProcess): Promise<void>;
  isAlive(instance: number): boolean;
  isRunning(name: string): boolean;
  /** It is dead, or was stopped for a while once. */
  hasFailed(name: string): boolean;
  /** With nothing else going wrong, what the dead have left behind is picked up at once. */
  checkOrphans(owners: number[]): Promise<void>;
}

const pickedUpWithinMs = 10_000;

interface Parts {
  database: SimulatedDatabase;
  bank: Bank;
  model: Model;
  /** In runs where partners have webhooks. */
  hooks: Hooks | undefined;
}

export function createProcesses(world: World, { database, bank, model, hooks }: Parts): Processes {
  const { random, scheduler, trace } = world;
  const running = new Map<number, ServiceProcess>();
  const partnersWaiting = new Map<ServiceProcess, Set<(answer: Answer) => void>>();
  const diedMs = new Map<number, number>();
  let started = 0;

  function start(): void {
    started += 1;
    const instance = started;
    const name = `process ${instance}`;
    const clock = scheduler.clockOf(name);
    const db = database.connectionOf(name);
    const log = { warn: watch, error: watch };
    const signals = createPaymentSignals();
    const deps = {
      db,
      clock,
      log,
      gateway: bank.portOf(name),
      writer: createPaymentWriter(db, clock),
      signals,
      outcomeWaiters: createOutcomeWaiters(db, clock, signals),
      alarms: createAlarms({ db, clock, log }),
      heartbeat: { instance, findDead: findGoneFor(name, instance) },
      leaseRelease: createLeaseRelease(db, clock, instance),
      qrHosts: ['qr.nspk.ru'],
      rateMaxAgeSec: 300,
      answerWithinMs: 60_000,
    };
    startRecovery({
      ...deps,
      clock: scheduler.clockOf(name, { everyMs: [500, 1_500], nextDueMs: database.nextDueMs }),
    });
    if (hooks) startSending(hooks, name, deps);
    trace.add(name, 'starts');

    const waiting = new Set<(answer: Answer) => void>();
    const process: ServiceProcess = {
      name,
      instance,
      stoodStill: false,
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
    { vault, receivers, pausesSec }: Hooks,
    name: string,
    deps: Omit<Parameters<typeof startDelivery>[0], 'vault' | 'sender' | 'webhookRetryScheduleSec'> & {
      signals: PaymentSignals;
    },
  ): void {
    const delivery = startDelivery({
      ...deps,
      clock: scheduler.clockOf(name, { everyMs: [200, 1_500, 10_000], nextDueMs: database.nextToSendMs }),
      vault,
      sender: receivers.portOf(name),
      webhookRetryScheduleSec: pausesSec,
    });
    deps.signals.paymentFinished.subscribe(delivery.runNow);
  }

  /** The database is the only thing that may fail a process; anything else that breaks is a bug. */
  function expectLostConnection(error: unknown): void {
    if (!(error instanceof Error) || error.message !== 'Connection terminated unexpectedly')
      world.violate('nothing breaks but connections', error instanceof Error ? `${error.stack}` : `${error}`);
  }

  const watch = (details: { err?: unknown; kind?: string; subject?: string }) => {
    if (details.err) expectLostConnection(details.err);
    if (details.kind && details.subject) model.wasLogged(details.kind, details.subject);
  };

  const findGoneFor = (owner: string, instance: number) => (instances: number[]) =>
    new Promise<number[]>(resolve => {
      const run = () => {
        const gone = instances.filter(i => !running.has(i) || random.chance(world.faults.takenForDead));
        for (const other of gone) hooks?.model.tookForDead(instance, other);
        resolve(gone);
      };
      scheduler.after(random.between(0, 3), { owner, run });
    });

  return {
    running: () => [...running.values()],
    start,
    isAlive: instance => running.has(instance),
    isRunning: name => [...running.values()].some(process => process.name === name),
    hasFailed: name => ![...running.values()].some(process => process.name === name && !process.stoodStill),
    checkOrphans: async owners => {
      if (world.calmSinceMs === undefined || [...running.values()].some(({ stoodStill }) => stoodStill))
        return;
      const { calmSinceMs } = world;
      const isLate = (owner: number) =>
        scheduler.nowMs() - Math.max(diedMs.get(owner) ?? Number.POSITIVE_INFINITY, calmSinceMs) >
        pickedUpWithinMs;
      if (!owners.some(isLate)) return;
      // The books are not read again after a claim, so who owns what now has to be asked for.
      const { rows } = await world.pool.query<{ lease_holder: number }>(
        'SELECT DISTINCT lease_holder FROM open_payments WHERE lease_holder IS NOT NULL ORDER BY lease_holder',
      );
      for (const row of rows.filter(row => isLate(row.lease_holder)))
        world.violate('what the dead have left behind is picked up at once', `process ${row.lease_holder}`);
    },
    kill: async process => {
      running.delete(process.instance);
      diedMs.set(process.instance, scheduler.nowMs());
      world.counts.crashes += 1;
      trace.add(process.name, 'dies');
      hooks?.sending.died(process.name);
      for (const { at, afterDeath } of scheduler.bury(process.name))
        if (afterDeath && random.chance(0.5)) scheduler.after(at - scheduler.nowMs(), { run: afterDeath });
      for (const answered of partnersWaiting.get(process)!) answered({ outcome: 'broken' });
      await database.changed();
    },
  };
}
