import type { Alarms } from '../../alarms/index.ts';
import type { Clock } from '../../base/clock.ts';
import { findValue, type Queryable } from '../../db/postgres/index.ts';
import type { DepositChain } from '../chain/deposit-chain.ts';

interface LateDeps {
  pool: Queryable;
  clock: Clock;
  alarms: Alarms;
  chain: Pick<DepositChain, 'name' | 'title'>;
}

/** A chain that is this far behind needs people. Ethereum takes up to 20 minutes to make a block final. */
const maxLagMs = 45 * 60_000;

/**
 * By the clock, in every process that watches chains: a round that never ends says nothing. A chain without a first round is
 * late that long after `sinceMs`.
 */
export async function reportLate({ pool, clock, alarms, chain }: LateDeps, sinceMs: number): Promise<void> {
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
