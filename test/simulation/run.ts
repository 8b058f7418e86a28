import type { Pool } from '../../src/db/pool.ts';
import { createRandom } from '../helpers/random.ts';
import { createAccounts } from './accounts.ts';
import type { Actor } from './actor.ts';
import { createBank, type Qr } from './bank.ts';
import { readBooks } from './books.ts';
import { createSimulatedDatabase } from './database.ts';
import { drawFaults, noFaults } from './faults.ts';
import { createModel } from './model.ts';
import { createOperator } from './operator.ts';
import { createPartners } from './partners.ts';
import { createProcessFailures } from './process-failures.ts';
import { createProcesses } from './processes.ts';
import { createRates } from './rates.ts';
import { createScheduler } from './scheduler.ts';
import { createWebhookAdmin } from './webhook-admin.ts';
import { deleteWebhooks } from './webhook-books.ts';
import { createWebhooks, drawPausesSec } from './webhooks.ts';
import { createTrace, type Violation, type World } from './world.ts';

export interface RunResult {
  seed: number;
  maxPayments: number;
  violation: Violation | undefined;
  trace: string[];
  digest: string;
  steps: number;
  payments: number;
  crashes: number;
  simulatedMs: number;
}

const dayMs = 86_400_000;
const firstDayMs = Date.parse('2026-11-15T00:00:00Z');
/** A run that is not over by then never will be; the retries of events take hours. */
const maxSimulatedMs = 24 * 3_600_000;
/** The share of runs with webhooks; the others have payments only. */
const webhookShare = 0.4;
const maxStepsPerPayment = 4_000;

let runs = 0;

export interface RunOptions {
  /** How many payments partners want at most; the same seed with another number is another run. */
  maxPayments?: number;
}

/** Runs one seed to its end; nothing else may use the database. */
export async function runSeed(
  pool: Pool,
  seed: number,
  { maxPayments = 16 }: RunOptions = {},
): Promise<RunResult> {
  const run = ++runs;
  const random = createRandom(seed);
  const startMs = firstDayMs + random.between(0, dayMs - 1);
  const lastsForHours = random.chance(0.1);
  const scheduler = createScheduler(random, startMs);
  const trace = createTrace(() => scheduler.nowMs() - startMs);
  let violation: Violation | undefined;
  const world: World = {
    random,
    scheduler,
    pool,
    trace,
    maxPayments,
    faults: drawFaults(random, { lastsForHours }),
    faultsStoppedMs: undefined,
    clockErrorMs: 0,
    violate: (rule, detail) => {
      violation ??= { rule, detail };
    },
    counts: { payments: 0, crashes: 0, steps: 0 },
  };
  await pool.query('DELETE FROM alarms');
  await deleteWebhooks(pool);
  const accounts = await createAccounts(world, run);
  const uuids = accounts.map(({ uuid }) => uuid);
  const model = createModel(world, () => bank, accounts);
  const bank = createBank(world, {
    onPay: model.beforePay,
    onPaid: model.paid,
    onContradiction: model.mustAlarm,
  });
  const webhooks = random.chance(webhookShare)
    ? createWebhooks(world, {
        uuids,
        model,
        pausesSec: drawPausesSec(random),
        isAlive: instance => processes.isAlive(instance),
        isExcused: name => processes.hasFailed(name),
      })
    : undefined;
  const database = createSimulatedDatabase(world, {
    webhooks: webhooks?.watch,
    isAlive: instance => processes.isAlive(instance),
    onChange: async sentMs => {
      const books = await readBooks(pool, uuids);
      model.observe(books, sentMs);
      return books.open;
    },
    onContradiction: model.mustAlarm,
  });
  const processes = createProcesses(world, { database, bank, model, webhooks });
  const newQr = (index: number) => drawQr(world, run, index);
  const actors: Actor[] = [
    createProcessFailures(world, processes),
    createOperator(world, { database, bank, model }),
    createPartners(world, { accounts, processes, bank, model, newQr }),
    createRates(world, database),
    ...(webhooks ? [createWebhookAdmin(world, { accounts, database, ...webhooks })] : []),
  ];

  const busyMs = random.between(5_000, 240_000);
  const faultyMs = lastsForHours ? random.between(3_600_000, 10_000_000) : random.between(0, 300_000);
  const faultsEndAfterMs = busyMs + faultyMs;
  for (const actor of actors) await actor.plan({ busyMs, faultsEndAfterMs });
  scheduler.after(faultsEndAfterMs, { run: stopFaults });

  function stopFaults(): void {
    trace.add('world', 'faults stop');
    world.faults = noFaults;
    world.faultsStoppedMs = scheduler.nowMs();
    for (const actor of actors) actor.stopFaults?.();
  }

  const isOver = () =>
    world.faultsStoppedMs !== undefined &&
    actors.every(actor => actor.isDone?.() ?? true) &&
    model.books.payments.every(({ status }) => status !== 'processing');

  async function next(): Promise<void> {
    world.counts.steps += 1;
    try {
      await scheduler.next();
    } catch (error) {
      world.violate('no error but a lost connection', error instanceof Error ? `${error.stack}` : `${error}`);
    }
    await processes.checkAbandonedLeases(model.books.open.leaseHolders);
    webhooks?.model.checkWaiting();
    if (world.counts.steps > maxStepsPerPayment * maxPayments || scheduler.nowMs() - startMs > maxSimulatedMs)
      world.violate(
        'every payment ends, every request is answered, and every event is sent or given up',
        `not after ${world.counts.steps} steps`,
      );
  }

  while (!violation && !isOver()) await next();
  // The alarms of the last payment are written right after it. Idle workers would sleep past that time.
  const lastMs = scheduler.nowMs() + 15_000;
  scheduler.after(15_000, { run: () => {} });
  while (!violation && scheduler.nowMs() < lastMs) await next();
  if (!violation) {
    await database.changed();
    model.checkEnd(processes.isRunning);
    webhooks?.model.checkEnd();
  }
  const simulatedMs = scheduler.nowMs() - startMs;
  return {
    seed,
    maxPayments,
    violation,
    trace: trace.lines,
    digest: trace.digest(),
    ...world.counts,
    simulatedMs,
  };
}

function drawQr({ random }: World, run: number, index: number): Qr {
  const kopecks = random.between(10, 200) * 100 + random.pick([0, 0, 1, 2, 3]);
  const qrcId = `AD${run.toString().padStart(10, '0')}QR${index.toString().padStart(4, '0')}`;
  const url = `https://qr.nspk.ru/${qrcId}?type=02&sum=${kopecks}&cur=RUB`;
  return { qrcId, url, amountKopecks: BigInt(kopecks), reusable: random.chance(0.5) };
}
