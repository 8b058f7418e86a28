import { expect } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { joinIncarnation } from '../../src/db/history/join.ts';
import { openDatabaseClock } from '../../src/db/postgres/database-clock.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { recoverRound } from '../../src/payments/lost-history/recover-history.ts';
import type { HistoryDeps } from '../../src/payments/lost-history/watch-orders.ts';
import { createPartnerWithKeys, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { endOfTime, manualClock } from '../helpers/clock.ts';
import { copyDatabase } from '../helpers/copied-database.ts';
import { createDatabase } from '../helpers/database.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';

/** From the beginning of an incarnation until late orders have arrived. */
export const lateOrdersMs = 20_000;
/** From the last order that was new until it is certain that nobody else sends any. */
export const noNewOrdersMs = 10_000;

/** A service, its bank, and a way to lose everything after a moment. */
export async function startLostWorld() {
  const simulator = await openSimulator();
  const clock = manualClock(new Date(systemClock.nowMs() + 1_000).toISOString());

  async function serviceOn(pool: Pool) {
    await setRate(pool, clock);
    const service = await startApi({ pool, clock, gatewayUrl: simulator.address, answerWithinMs: 0 });
    const deps = { ...service.deps, log: { ...service.deps.log, info: () => {} } };
    const as = (key: string) => partnerAt(service.address, key);
    const round = (changes: Partial<HistoryDeps> = {}) => recoverRound({ ...deps, ...changes });
    const isOpen = async () =>
      (await pool.query('SELECT FROM incarnations WHERE opened_at IS NULL')).rowCount === 0;
    /** So much later, after a round. */
    const isOpenAfter = async (ms = 0, changes: Partial<HistoryDeps> = {}) => {
      await clock.advance(ms);
      await round(changes);
      return isOpen();
    };
    return {
      ...{ pool, deps, as, round, isOpen, isOpenAfter },
      pay: async (key: string, { link }: { link: string }, idempotencyKey?: string) =>
        (await as(key).pay({ qr_url: link }, idempotencyKey)).json,
      /** Lists until late orders have arrived: then it is open, if nothing keeps it closed. */
      recover: async (changes: Partial<HistoryDeps> = {}) => {
        await round(changes);
        return isOpenAfter(lateOrdersMs, changes);
      },
      poll: () => recoverDuePayments(deps),
      alarms: async () => (await listAlarms(pool, { cleared: false })).map(({ kind }) => kind).toSorted(),
      join: () => join(pool, true),
      expectSoundBooks: async () =>
        expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]),
    };
  }

  const join = async (pool: Pool, isRestored = false) =>
    joinIncarnation(
      { pool, clock: { ...(await openDatabaseClock(pool)), ...clock } },
      { place: undefined, isRestored },
    );

  const { pool } = await createDatabase();
  await join(pool);
  const before = await serviceOn(pool);
  return {
    simulator,
    clock,
    before,
    newCustomer: (microUsdt?: bigint) => createPartnerWithKeys(pool, microUsdt),
    newQr: () => makeQr(simulator),
    paidOrders: async () =>
      (await simulator.call('GET', '/orders?limit=1000')).body.orders.filter(
        (order: { state: string }) => order.state === 'succeeded',
      ) as { payment_id: string; qrc_id: string }[],
    /** Runs `lost` on the service, and returns one whose database has forgotten all of it. */
    lose: async <Result>(
      lost: () => Promise<Result>,
      { isRestored = true, onCopy }: { isRestored?: boolean; onCopy?: (copy: Pool) => Promise<unknown> } = {},
    ) => {
      const copy = await copyDatabase(pool);
      await onCopy?.(copy);
      const result = await lost();
      await join(copy, isRestored);
      return { after: await serviceOn(copy), result };
    },
    /** Two services, one after the other, on the same backup. */
    loseTwice: async () => {
      const copies = [await copyDatabase(pool), await copyDatabase(pool)] as const;
      await join(copies[0], true);
      const first = await serviceOn(copies[0]);
      clock.advance(60_000);
      await join(copies[1], true);
      return [first, await serviceOn(copies[1])] as const;
    },
  };
}
