import type { Pool } from '../../src/db/pool.ts';
import { createRandom } from '../helpers/random.ts';
import { createAccounts } from './accounts.ts';
import type { Actor } from './actor.ts';
import { createBank, type Qr } from './bank.ts';
import { readBooks } from './books.ts';
import { createSimulatedDatabase } from './database.ts';
import { drawFaults, noFaults } from './faults.ts';
import { forgetWebhooks } from './hook-books.ts';
import { createHookDesk } from './hook-desk.ts';
import { createHooks, drawPausesSec } from './hooks.ts';
import { createMisfortune } from './misfortune.ts';
import { createModel } from './model.ts';
import { createOperator } from './operator.ts';
import { createPartners } from './partners.ts';
import { createProcesses } from './processes.ts';
import { createRates } from './rates.ts';
import { createScheduler } from './scheduler.ts';
import { createTrace, type Violation, type World } from './world.ts';

export interface RunResult {
  seed: number;
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
/** Whatever is not over by then never will be; events are sent again for hours. */
const givesUpAfterMs = 24 * 3_600_000;
/** In so many runs partners have webhooks; in the others there is nothing but payments. */
const hookedShare = 0.4;
const maxSteps = 60_000;

let runs = 0;

/** Plays one seed to its end against a database that nobody else uses. */
export async function runSeed(pool: Pool, seed: number): Promise<RunResult> {
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
    faults: drawFaults(random, { lastsForHours }),
    calmSinceMs: undefined,
    violate: (rule, detail) => {
      violation ??= { rule, detail };
    },
    counts: { payments: 0, crashes: 0, steps: 0 },
  };
  await pool.query('DELETE FROM alarms');
  await forgetWebhooks(pool);
  const accounts = await createAccounts(world, run);
  const uuids = accounts.map(({ uuid }) => uuid);
  const model = createModel(world, () => bank, accounts);
  const bank = createBank(world, {
    onPay: model.beforePay,
    onPaid: model.paid,
    onContradiction: model.mustAlarm,
  });
  const hooks = random.chance(hookedShare)
    ? createHooks(world, {
        uuids,
        model,
        pausesSec: drawPausesSec(random),
        isAlive: instance => processes.isAlive(instance),
        isExcused: name => processes.hasFailed(name),
      })
    : undefined;
  const database = createSimulatedDatabase(world, {
    webhooks: hooks?.watch,
    isAlive: instance => processes.isAlive(instance),
    onChange: async () => {
      const books = await readBooks(pool, uuids);
      model.observe(books);
      return books.open;
    },
    onContradiction: model.mustAlarm,
  });
  const processes = createProcesses(world, { database, bank, model, hooks });
  const newQr = (index: number) => drawQr(world, run, index);
  const actors: Actor[] = [
    createMisfortune(world, processes),
    createOperator(world, { database, bank, model }),
    createPartners(world, { accounts, processes, bank, model, newQr }),
    createRates(world, database),
    ...(hooks ? [createHookDesk(world, { accounts, database, ...hooks })] : []),
  ];

  const busyMs = random.between(5_000, 240_000);
  const faultyMs = lastsForHours ? random.between(3_600_000, 10_000_000) : random.between(0, 300_000);
  const calmAfterMs = busyMs + faultyMs;
  for (const actor of actors) await actor.plan({ busyMs, calmAfterMs });
  scheduler.after(calmAfterMs, { run: becomeCalm });

  function becomeCalm(): void {
    trace.add('world', 'becomes calm');
    world.faults = noFaults;
    world.calmSinceMs = scheduler.nowMs();
    for (const actor of actors) actor.becomeCalm?.();
  }

  const isOver = () =>
    world.calmSinceMs !== undefined &&
    actors.every(actor => actor.isContent?.() ?? true) &&
    model.books.payments.every(({ status }) => status !== 'processing');

  async function next(): Promise<void> {
    world.counts.steps += 1;
    try {
      await scheduler.next();
    } catch (error) {
      world.violate('nothing breaks but connections', error instanceof Error ? `${error.stack}` : `${error}`);
    }
    await processes.checkOrphans(model.books.open.owners);
    hooks?.model.checkWaiting();
    if (world.counts.steps > maxSteps || scheduler.nowMs() - startMs > givesUpAfterMs)
      world.violate(
        'every payment ends, everybody gets an answer, and every event is sent or given up',
        `not after ${world.counts.steps} steps`,
      );
  }

  while (!violation && !isOver()) await next();
  // Alarms follow the last ending at once; let them be written. Idle workers would sleep past that time.
  const lastMs = scheduler.nowMs() + 15_000;
  scheduler.after(15_000, { run: () => {} });
  while (!violation && scheduler.nowMs() < lastMs) await next();
  if (!violation) {
    await database.changed();
    model.checkEnd(processes.isRunning);
    hooks?.model.checkEnd();
  }
  const simulatedMs = scheduler.nowMs() - startMs;
  return { seed, violation, trace: trace.lines, digest: trace.digest(), ...world.counts, simulatedMs };
}

function drawQr({ random }: World, run: number, index: number): Qr {
  const kopecks = random.between(10, 200) * 100 + random.pick([0, 0, 1, 2, 3]);
  const qrcId = `AD${run.toString().padStart(10, '0')}QR${index.toString().padStart(4, '0')}`;
  const url = `https://qr.nspk.ru/${qrcId}?type=02&sum=${kopecks}&cur=RUB`;
  return { qrcId, url, amountKopecks: BigInt(kopecks), lasting: random.chance(0.5) };
}
