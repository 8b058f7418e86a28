import type { Pool } from '../../src/db/postgres/pool.ts';
import type { Account } from './accounts.ts';
import type { Bank } from './bank.ts';
import { readBooks } from './books.ts';
import { createSimulatedDatabase, type DatabaseOptions, type SimulatedDatabase } from './database.ts';
import { createModel, type Model } from './model.ts';
import { createEventIds, createLateOrders, type Past } from './past.ts';
import type { RunDatabase } from './run-database.ts';
import type { World } from './world.ts';

/** One history of the database: what the processes that joined it see, and the rules about it. */
export interface History {
  pool: Pool;
  database: SimulatedDatabase;
  model: Model;
  /** The first process that joins says that commits are missing, and others wait for it; a promotion shows by itself. */
  isMarkedRestored: boolean;
  joinsFirst: string | undefined;
  isJoined: boolean;
  /** By process: when its sessions end. Empty for the current history. */
  sessionsEndMs: Map<string, number>;
  /** When another history took its place. */
  lostMs: number | undefined;
}

export interface HistoriesOptions {
  runDatabase: RunDatabase;
  mayGoBack: boolean;
  /** So long after a loss orders of the lost history arrive. */
  ordersArriveForMs: number;
  accounts: Account[];
  bank: () => Bank;
  isAlive(history: History, instance: number): boolean;
  webhooks: (model: Model) => DatabaseOptions['webhooks'];
}

/** A server that replays its log finds sequences up to so far ahead of the last number that was given out. */
const sequencesAhead = 32;

export function createHistories(world: World, options: HistoriesOptions) {
  const { runDatabase, accounts, bank } = options;
  const { random, scheduler } = world;
  const eventIds = createEventIds(world);
  const uuids = accounts.map(({ uuid }) => uuid);
  const lost: History[] = [];
  let snapshot: { promote(): Pool; past: Omit<Past, 'findLost'>; isJoined: boolean } | undefined;

  const late = createLateOrders(
    world,
    id => current.model.find(id) !== undefined || current.database.strayOrders().includes(id),
  );

  function begin(past: Past | undefined, isMarkedRestored: boolean): History {
    const model = createModel(world, {
      bank,
      partners: accounts,
      eventIds,
      strayOrders: () => database.strayOrders(),
      isLateKey: late.isKeyOf,
      ...(past ? { past } : {}),
    });
    const sessionsEndMs = new Map<string, number>();
    const database = createSimulatedDatabase(world, {
      pool: () => history.pool,
      promotions: runDatabase.promotions,
      webhooks: options.webhooks(model),
      isAlive: instance => options.isAlive(history, instance),
      isCutOff: name => (sessionsEndMs.get(name) ?? Number.POSITIVE_INFINITY) <= scheduler.nowMs(),
      onChange: async sentMs => {
        const books = await readBooks(history.pool, uuids);
        model.observe(books, sentMs);
        return books.open;
      },
      onContradiction: model.mustAlarm,
    });
    const { pool } = runDatabase;
    const state = { isMarkedRestored, joinsFirst: undefined, isJoined: false, lostMs: undefined };
    const history: History = { pool, database, model, sessionsEndMs, ...state };
    return history;
  }
  let current = begin(undefined, false);
  let isCutOff = false;

  const findLost = (paymentId: string) =>
    lost.map(({ model }) => model.find(paymentId)).find(payment => payment !== undefined);

  const isLost = (paymentId: string) => !current.model.find(paymentId) && findLost(paymentId) !== undefined;

  return {
    current: () => current,
    /** The database may go back in this run, so processes join its incarnations. */
    mayGoBack: options.mayGoBack,
    /** Copies the database for a later `goBack`. */
    takeSnapshot: async () => {
      const { model, isJoined } = current;
      snapshot = { promote: await runDatabase.copy(), past: model.snapshot(), isJoined };
    },
    /** The snapshot is the database from now on. One without an incarnation can only be known to be restored. */
    goBack: async (change: 'restore' | 'promotion') => {
      const { promote, past, isJoined } = snapshot!;
      const how = isJoined ? change : 'restore';
      current.pool = promote();
      current.lostMs = scheduler.nowMs();
      lost.push(current);
      if (how === 'promotion') runDatabase.promotions += 1;
      await runDatabase.pool.query({
        text: `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, last_value + $1)
                 FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL`,
        values: [random.between(0, sequencesAhead)],
      });
      current = begin({ ...past, findLost }, how === 'restore');
      world.counts.losses += 1;
    },
    /** The current history does not have it, but an earlier one had. */
    isLost,
    /**
     * It is lost, and the bank side has no order of it: it never was sent or was refused, or is voided by now. Or its order came
     * late, and is not found yet.
     */
    isForgotten: (paymentId: string) =>
      isLost(paymentId) &&
      (late.isKeyOf(findLost(paymentId)!) ||
        ['never_received', 'refused', 'voided'].includes(bank().truthOf(paymentId).truth)),
    /** An order of a lost history that has not arrived in time never does. */
    isCutOff: (paymentId: string) =>
      isLost(paymentId) &&
      (isCutOff || scheduler.nowMs() >= lost.at(-1)!.lostMs! + options.ordersArriveForMs),
    /** The bank side has accepted its order. */
    arrived: (paymentId: string) => {
      if (isLost(paymentId)) late.arrived(findLost(paymentId)!, lost.at(-1)!.lostMs!);
    },
    late,
    eventIds,
    /** What has not arrived by now never does. */
    cutOff: () => {
      isCutOff = true;
    },
    end: runDatabase.dropLost,
  };
}

export type Histories = ReturnType<typeof createHistories>;
