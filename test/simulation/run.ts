import { systemClock } from '../../src/base/clock.ts';
import { joinIncarnation } from '../../src/db/history/join.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { createRandom } from '../helpers/random.ts';
import { createAccounts } from './accounts.ts';
import { createBank, type Qr } from './bank.ts';
import { createCrashPoints } from './crash-points.ts';
import { createDeposits } from './deposits.ts';
import { drawFaults, noFaults } from './faults.ts';
import { createFeeds } from './feeds.ts';
import { createHistories } from './histories.ts';
import { createKeys } from './keys.ts';
import { createOperator } from './operator.ts';
import { createPartners } from './partners.ts';
import { createPaidKeys } from './past.ts';
import {
  createGoingBack,
  createProcessFailures,
  createRates,
  drawLosses,
  recoveryMs,
} from './process-failures.ts';
import { createProcesses } from './processes.ts';
import { createQuotes } from './quotes.ts';
import { createRefunds } from './refunds.ts';
import type { RunDatabase } from './run-database.ts';
import { createScheduler } from './scheduler.ts';
import { createEndpointAdmin, createWebhookAdmin } from './webhook-admin.ts';
import { deleteWebhooks } from './webhook-books.ts';
import { createWebhooks, drawPausesSec, type Webhooks } from './webhooks.ts';
import { type Actor, createTrace, type Script, type Violation, type World } from './world.ts';

const dayMs = 86_400_000;
const firstDayMs = Date.parse('2026-11-15T00:00:00Z');
/** A run that is not over by then never will be; the retries of events take hours. */
const maxSimulatedMs = 24 * 3_600_000;
/** The share of runs with webhooks; the others have payments only. */
const webhookShare = 0.4;
const maxStepsPerPayment = 4_000;
/** The share of runs in which orders of a lost history arrive later than the 20 s that the service waits for them. */
const lateOrdersShare = 0.5;

let runs = 0;

export interface RunOptions {
  /** How many payments partners want at most; the same seed with another number is another run. */
  maxPayments?: number;
  /** The database never goes back. Otherwise it does in one of four seeds, so that the others keep their speed. */
  keepsHistory?: boolean;
  /** One payment and one failure instead of what the seed draws. */
  script?: Script;
}

/** The same in a new database and in one with earlier runs: a seed must run the same again. */
async function beginWithIncarnation(pool: Pool): Promise<void> {
  await pool.query('DELETE FROM process_beats');
  // An earlier run may have jumped to a later time of the same day.
  await pool.query("SELECT setval(pg_get_serial_sequence('events', 'id'), 1)");
  const { rowCount } = await pool.query('SELECT FROM incarnations LIMIT 1');
  if (rowCount === 0)
    await joinIncarnation({ pool, clock: systemClock }, { place: undefined, isRestored: false });
}

export const hasChainIn = (seed: number) => seed % 5 === 1;

/** What there is beside payments. */
const drawnFor = (seed: number, keepsHistory: boolean) => ({
  goesBack: !keepsHistory && seed % 4 === 3,
  chain: hasChainIn(seed),
  quotes: seed % 7 === 0,
  /** Further ones, in runs with webhooks. */
  endpoints: seed % 5 > 2,
  /** Some of them with quotes. None goes back: a lost roll would leave a partner without its key. */
  keys: seed % 7 === 5 || seed % 14 === 0,
  refunds: seed % 7 === 3,
});
/** Runs one seed to its end; nothing else may use the database. */
export async function runSeed(
  runDatabase: RunDatabase,
  seed: number,
  { maxPayments = 16, keepsHistory = false, script }: RunOptions = {},
) {
  const run = ++runs;
  const { pool } = runDatabase;
  const has: Partial<ReturnType<typeof drawnFor>> = script
    ? { [script.beside ?? '']: true }
    : drawnFor(seed, keepsHistory);
  const mayGoBack = has.goesBack === true;
  const random = createRandom(seed);
  const startMs = firstDayMs + random.between(0, dayMs - 1);
  // A history that may be lost is looked at every few seconds: hours of that take too long.
  const lastsForHours = random.chance(0.1) && !mayGoBack && !script;
  const scheduler = createScheduler(random, startMs);
  const trace = createTrace(() => scheduler.nowMs() - startMs);
  let violation: Violation | undefined;
  const world: World = {
    random,
    scheduler,
    pool,
    trace,
    maxPayments,
    faults: script ? { ...noFaults, ...script.faults } : drawFaults(random, { lastsForHours }),
    faultsStoppedMs: undefined,
    script,
    points: undefined,
    clockErrorMs: 0,
    violate: (rule, detail) => {
      violation ??= { rule, detail: trace.named(detail) };
    },
    counts: { payments: 0, crashes: 0, steps: 0, losses: 0, rebuilt: 0, chainFaults: {} },
  };
  await pool.query('DELETE FROM alarms');
  await deleteWebhooks(pool);
  // What earlier runs have left says nothing about this one.
  if (mayGoBack) await beginWithIncarnation(pool);
  await pool.query('DELETE FROM locked_quotes');
  await pool.query('DELETE FROM open_payments');
  await pool.query('DELETE FROM stray_orders');
  await pool.query(`UPDATE incarnations SET listed_at = 'infinity'`);
  const accounts = await createAccounts(world, run);
  const uuids = accounts.map(({ uuid }) => uuid);
  const hasLateOrders = mayGoBack && random.chance(lateOrdersShare);
  if (hasLateOrders) world.faults.orderLate = 0.6;
  const checkPaidKey = createPaidKeys(world, payment => histories.late.isKeyOf(payment));
  const bank = createBank(world, {
    onPay: (processName, paymentId) => processes.modelOf(processName).beforePay(paymentId),
    onAccepted: paymentId => histories.arrived(paymentId),
    onPaid: (paymentId, reference) => {
      checkPaidKey(paymentId, reference);
      histories.current().model.paid(paymentId);
      refunds?.paid(paymentId);
    },
    isCutOff: paymentId => histories.isCutOff(paymentId),
    onContradiction: (processName, paymentId) =>
      processes.modelOf(processName).mustAlarm(processName, paymentId),
    listRefunds: (since, cursor) => refunds!.list(since, cursor),
  });
  let webhooks: Webhooks | undefined;
  const hasWebhooks = script ? has.endpoints === true : random.chance(webhookShare) && !mayGoBack;
  const histories = createHistories(world, {
    runDatabase,
    mayGoBack,
    ordersArriveForMs: hasLateOrders ? 600_000 : 20_000,
    accounts,
    bank: () => bank,
    isAlive: (history, instance) => processes.isAlive(history, instance),
    webhooks: model => {
      if (!hasWebhooks) return undefined;
      webhooks = createWebhooks(world, {
        uuids,
        model,
        refundEvents: () => refunds?.events() ?? [],
        pausesSec: drawPausesSec(random),
        isAlive: instance => processes.isAlive(histories.current(), instance),
        isExcused: name => processes.hasFailed(name),
      });
      return webhooks.watch;
    },
  });
  const history = histories.current();
  const common = { seed, run, accounts, histories, bank };
  const deposits = has.chain ? await createDeposits(world, common) : undefined;
  const refunds = has.refunds ? await createRefunds(world, common) : undefined;
  const watchers = [deposits, refunds].filter(watcher => watcher !== undefined);
  const keys = has.keys && !mayGoBack ? await createKeys(world, { seed, accounts }) : undefined;
  const processes = createProcesses(world, { histories, bank, webhooks, watchers, keys });
  if (script) world.points = createCrashPoints(world, script, processes);
  const newQr = (index: number) => drawQr(world, run, index);
  const quotes = has.quotes ? createQuotes(world, () => processes) : undefined;
  const partners = createPartners(world, { accounts, processes, bank, histories, newQr, quotes, keys });
  const actors: Actor[] = [
    ...(script
      ? [{ plan: processes.start }]
      : [createProcessFailures(world, processes), createOperator(world, { histories, bank })]),
    partners,
    createRates(world),
    ...(webhooks ? [createWebhookAdmin(world, { accounts, history, ...webhooks })] : []),
    ...(webhooks && (has.endpoints || refunds)
      ? [createEndpointAdmin(world, seed, { accounts, history, ...webhooks })]
      : []),
    ...watchers,
    ...(keys ? [keys] : []),
  ];

  // Payments close together: more of them fall into the time that is lost.
  const busyMs = random.between(5_000, mayGoBack ? 80_000 : 240_000);
  const faultyMs = lastsForHours ? random.between(3_600_000, 10_000_000) : random.between(0, 300_000);
  const losses = mayGoBack ? drawLosses(random, busyMs) : [];
  const faultsEndAfterMs = script
    ? 0
    : Math.max(busyMs + faultyMs, ...losses.map(({ atMs }) => atMs + recoveryMs));
  const feeds = mayGoBack ? createFeeds(world, { accounts, histories, processes, refunds }) : undefined;
  if (feeds) actors.push(feeds, createGoingBack(world, losses, { histories, processes, partners }));
  for (const actor of actors) await actor.plan({ busyMs, faultsEndAfterMs });
  scheduler.after(faultsEndAfterMs, { run: stopFaults });

  function stopFaults(): void {
    trace.add('world', 'faults stop');
    world.faults = { ...noFaults, ...script?.faults };
    world.faultsStoppedMs = scheduler.nowMs();
    for (const actor of actors) actor.stopFaults?.();
  }

  const isOver = () =>
    world.faultsStoppedMs !== undefined &&
    actors.every(actor => actor.isDone?.() ?? true) &&
    !histories.current().database.isRecovering() &&
    histories.late.checkFound() &&
    histories.current().model.books.payments.every(({ status }) => status !== 'processing');

  async function next(): Promise<void> {
    world.counts.steps += 1;
    try {
      await scheduler.next();
    } catch (error) {
      world.violate('no error but a lost connection', error instanceof Error ? `${error.stack}` : `${error}`);
    }
    await processes.checkAbandonedLeases(histories.current().model.books.open.leaseHolders);
    webhooks?.model.checkWaiting();
    quotes?.check(histories.current().model.books);
    keys?.check(histories.current().model.books);
    if (world.counts.steps > maxStepsPerPayment * maxPayments || scheduler.nowMs() - startMs > maxSimulatedMs)
      world.violate(
        'every payment ends, every request is answered, and every event is sent or given up',
        `not after ${world.counts.steps} steps; ${refunds?.unsettled().join(', ') ?? ''}`,
      );
  }

  // An order that waited for the last payment to end is rebuilt after it.
  while (!violation && !isOver()) {
    while (!violation && !isOver()) await next();
    histories.cutOff();
    // The alarms of the last payment are written right after it. Idle workers would sleep past that time.
    const lastMs = scheduler.nowMs() + 15_000;
    scheduler.after(15_000, { run: () => {} });
    while (!violation && scheduler.nowMs() < lastMs) await next();
  }
  if (!violation) {
    const { database, model } = histories.current();
    await database.changed();
    model.checkEnd(processes.isRunning);
    webhooks?.model.checkEnd();
    for (const watcher of watchers) await watcher.checkEnd();
    await feeds?.checkEnd();
  }
  await histories.end();
  const simulatedMs = scheduler.nowMs() - startMs;
  return {
    seed,
    maxPayments,
    keepsHistory,
    violation,
    trace: trace.lines,
    ...world.counts,
    simulatedMs,
    isScripted: script !== undefined,
    /** In a run with a script: the points that were reached, and what people were alarmed of. */
    reached: world.points?.reached ?? [],
    alarms: histories.current().model.books.alarms.map(({ kind }) => kind),
  };
}

export type RunResult = Awaited<ReturnType<typeof runSeed>>;

function drawQr({ random, script }: World, run: number, index: number): Qr {
  const kopecks = script?.kopecks ?? random.between(10, 200) * 100 + random.pick([0, 0, 1, 2, 3]);
  const qrcId = `AD${run.toString().padStart(10, '0')}QR${index.toString().padStart(4, '0')}`;
  const url = `https://qr.nspk.ru/${qrcId}?type=02&sum=${kopecks}&cur=RUB`;
  return { qrcId, url, amountKopecks: BigInt(kopecks), reusable: random.chance(0.5) };
}
