import type { Alarms } from '../../alarms/index.ts';
import { type BackgroundLoop, startBackgroundLoop } from '../../base/background-loop.ts';
import type { Clock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { hasRow, type Queryable } from '../../db/postgres/index.ts';
import type { DepositChain } from '../chain/deposit-chain.ts';
import { reconcileDeposits } from '../reconcile.ts';

interface DailyDeps {
  pool: Queryable;
  clock: Clock;
  alarms: Alarms;
  heartbeat: { instance: number };
  log: { error(details: object, message: string): void };
}

const checkEveryMs = 10 * 60_000;
const dayMs = 86_400_000;

/**
 * Compares the deposits of yesterday with the chain, once all its blocks are booked, in the process that watches the chain.
 * One that takes over compares the day again, which does no harm.
 */
export function startDailyReconciliation(deps: DailyDeps, chain: DepositChain): BackgroundLoop {
  const { pool, clock, alarms, log } = deps;
  let comparedMs: number | undefined;
  return startBackgroundLoop({
    clock,
    everyMs: checkEveryMs,
    work: async () => {
      const todayMs = Math.floor(clock.nowMs() / dayMs) * dayMs;
      if (comparedMs === todayMs || !(await isBooked(deps, chain.name, new Date(todayMs)))) return;
      await reconcileDeposits({ db: pool, clock, alarms }, chain, new Date(todayMs - dayMs));
      comparedMs = todayMs;
    },
    onError: err => {
      // What is wrong with a node is an alarm of the watcher.
      if (!(err instanceof OperatorError))
        log.error({ err, chain: chain.name }, 'deposits could not be compared');
    },
  });
}

/** Whether this process watches the chain, and everything before this time is booked. */
const isBooked = ({ pool, heartbeat }: DailyDeps, chain: string, until: Date) =>
  hasRow(pool, {
    text: 'SELECT FROM deposit_chains WHERE chain = $1 AND lease_holder = $2 AND cursor_time >= $3',
    values: [chain, heartbeat.instance, until],
  });
