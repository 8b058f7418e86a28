import { type BackgroundLoop, startBackgroundLoop } from '../../base/background-loop.ts';
import { type Clock, dayMs, instantOf } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { findValue, hasRow, type Queryable, readValue } from '../../db/postgres/index.ts';
import type { DepositChain, DepositChains } from '../chain/deposit-chain.ts';
import { reconcileDeposits } from '../reconcile.ts';
import { createScreen, screenDeposits } from '../screening/screen-deposits.ts';
import { maxRangeBlocks } from './halving.ts';
import { type RoundDeps, runRound } from './round.ts';

interface WatcherDeps extends Omit<RoundDeps, 'chain' | 'isScreened'> {
  chains: DepositChains;
  /** Asked before a deposit is credited; undefined: nobody is. */
  depositScreenUrl: string | undefined;
  /** The number of this process. */
  heartbeat: { instance: number };
  log: { error(details: object, message: string): void };
}

const roundEveryMs = 5_000;
const checkLateEveryMs = 60_000;
/** Longer than most rounds. A watcher that goes on after its lease is harmless: the cursor lets one of them book. */
const leaseMs = 60_000;

/**
 * Leader election per chain, by a lease in its row. The first round of a chain makes the row, and then every process may
 * run it.
 */
export const takeLease = (db: Queryable, clock: Clock, chain: string, holder: number) =>
  readValue<boolean>(db, {
    text: `WITH taken AS (UPDATE deposit_chains SET lease_holder = $2, lease_until = $4
                           WHERE chain = $1 AND (lease_holder = $2 OR lease_until <= $3 OR lease_until > $5)
                          RETURNING chain)
           SELECT EXISTS (SELECT FROM taken) OR NOT EXISTS (SELECT FROM deposit_chains WHERE chain = $1) AS is_mine`,
    values: [
      chain,
      holder,
      instantOf(clock),
      new Date(clock.nowMs() + leaseMs),
      // A lease from further in the future was taken with a wrong clock.
      new Date(clock.nowMs() + 2 * leaseMs),
    ],
  });

/** Only the leader asks the screening service, so that it is asked once. Two that ask at once are harmless. */
const holdsLease = (db: Queryable, clock: Clock, chain: string, holder: number) =>
  hasRow(db, {
    text: 'SELECT FROM deposit_chains WHERE chain = $1 AND lease_holder = $2 AND lease_until > $3',
    values: [chain, holder, instantOf(clock)],
  });

/**
 * Watches all configured chains while this process runs, each in a loop of its own: a slow one delays no other. Screening
 * has a second loop per chain, so that blocks are read while the screening service is slow.
 */
export function startDepositWatchers(deps: WatcherDeps, openScreen = createScreen): () => Promise<void> {
  const { pool, clock, chains, depositScreenUrl, heartbeat, log } = deps;
  const startedMs = clock.nowMs();
  const screen = depositScreenUrl === undefined ? undefined : openScreen(clock, depositScreenUrl);
  const loops: BackgroundLoop[] = [...chains.values()].flatMap(chain => {
    const size = { blocks: maxRangeBlocks };
    const ofChain = { ...deps, chain, screen, isScreened: screen !== undefined };
    const start = (work: () => Promise<'more' | 'done'>, failure: string) =>
      startBackgroundLoop({
        clock,
        everyMs: roundEveryMs,
        work: async () => ((await work()) === 'more' ? 0 : undefined),
        onError: err => log.error({ err, chain: chain.name }, failure),
      });
    return [
      start(async () => {
        const isLeader = await takeLease(pool, clock, chain.name, heartbeat.instance);
        return isLeader ? runRound(ofChain, size) : 'done';
      }, 'deposits could not be watched'),
      start(async () => {
        const isLeader = await holdsLease(pool, clock, chain.name, heartbeat.instance);
        return isLeader ? screenDeposits(ofChain) : 'done';
      }, 'deposits could not be screened'),
      startDailyReconciliation(deps, chain),
      startBackgroundLoop({
        clock,
        everyMs: checkLateEveryMs,
        work: () => reportLate(ofChain, startedMs),
        onError: err => log.error({ err, chain: chain.name }, 'the lag of deposits could not be read'),
      }),
    ];
  });
  return async () => void (await Promise.all(loops.map(loop => loop.stop())));
}

const compareEveryMs = 10 * 60_000;

/**
 * Compares the deposits of yesterday with the chain, once all its blocks are booked, in the process that watches the chain.
 * One that takes over compares the day again, which does no harm.
 */
function startDailyReconciliation(deps: WatcherDeps, chain: DepositChain): BackgroundLoop {
  const { pool, clock, alarms, log } = deps;
  let comparedMs: number | undefined;
  return startBackgroundLoop({
    clock,
    everyMs: compareEveryMs,
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
const isBooked = ({ pool, heartbeat }: WatcherDeps, chain: string, until: Date) =>
  hasRow(pool, {
    text: 'SELECT FROM deposit_chains WHERE chain = $1 AND lease_holder = $2 AND cursor_time >= $3',
    values: [chain, heartbeat.instance, until],
  });

/** A chain that is this far behind needs people. Ethereum takes up to 20 minutes to make a block final. */
const maxLagMs = 45 * 60_000;

/**
 * By the clock, in every process that watches chains: a round that never ends says nothing. A chain without a first round is
 * late that long after `sinceMs`.
 */
export async function reportLate(
  { pool, clock, alarms, chain }: Omit<RoundDeps, 'isScreened'>,
  sinceMs: number,
): Promise<void> {
  const booked = await findValue<Date>(pool, {
    text: 'SELECT cursor_time FROM deposit_chains WHERE chain = $1',
    values: [chain.name],
  });
  const bookedMs = booked?.getTime();
  const detail =
    bookedMs === undefined
      ? `Deposits on ${chain.title} are not read yet.`
      : `Deposits on ${chain.title} are booked up to ${new Date(bookedMs).toISOString()} only.`;
  const late = { kind: 'deposit_chain_late', detail };
  const isLate = clock.nowMs() - (bookedMs ?? sinceMs) > maxLagMs;
  await alarms.report(`deposits ${chain.name} progress`, isLate ? [late] : []);
}
