import { type Id, idFromUuid } from '../../src/base/ids.ts';
import { transaction } from '../../src/db/postgres/pool.ts';
import { credit, type Mode, openAccounts } from '../../src/ledger/index.ts';
import { findPartner, type Limits } from '../../src/partners/index.ts';
import type { World } from './world.ts';

/** A partner of one run. */
export interface Account {
  partnerId: Id<'prt'>;
  uuid: string;
  limits: Limits;
  startMicroUsdt: { live: number; test: number };
}

/** A payment that a partner wants, with its idempotency key. */
export interface Wanted {
  account: Account;
  mode: Mode;
  key: string;
  qr: { amountKopecks: bigint };
}

/**
 * Every run has partners of its own, with little money and narrow limits. Their ids are the same but for the number of
 * the run, since the lane of a batch depends on them.
 */
export async function createAccounts(
  { random, pool, scheduler, maxPayments }: World,
  run: number,
): Promise<Account[]> {
  const clock = scheduler.clockOf('set-up');
  const accounts: Account[] = [];
  for (let count = random.between(1, 3); count > 0; count--) {
    const uuid = `${run.toString(16).padStart(8, '0')}-0000-7000-8000-${count.toString(16).padStart(12, '0')}`;
    const partnerId = idFromUuid('prt', uuid);
    const concurrent = random.pick([1, 2, 3, 100]);
    const dailyKopecks = random.chance(0.2) ? 40_000 : null;
    const live = random.pick([1_000_000, 5_000_000, 20_000_000]) * (maxPayments / 16);
    const test = random.pick([2_000_000, 20_000_000]) * (maxPayments / 16);
    await pool.query(
      'INSERT INTO partners (id, name, created_at, concurrent, daily_kopecks) VALUES ($1, $2, $3, $4, $5)',
      [uuid, 'Shop', new Date(clock.nowMs()), concurrent, dailyKopecks],
    );
    await transaction(pool, async tx => {
      await openAccounts(tx, partnerId);
      const funding = { partnerId, reference: 'funding' };
      await credit(tx, clock, [
        { ...funding, mode: 'live', microUsdt: BigInt(live) },
        { ...funding, mode: 'test', microUsdt: BigInt(test) },
      ]);
    });
    const { limits } = (await findPartner(pool, partnerId))!;
    accounts.push({ partnerId, uuid, limits, startMicroUsdt: { live, test } });
  }
  return accounts;
}

/** How quotes are locked; small enough for the limits to be met. */
export const quoteLock = {
  lifetimeSec: 60,
  spreadBps: 50,
  maxMicroUsdtOfPartner: 5_000_000n,
  maxMicroUsdt: 8_000_000n,
};
