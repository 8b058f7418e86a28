import { afterEach, beforeEach, expect, vi } from 'vitest';
import { idFromUuid } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createPartnerWithKeys, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { endOfTime } from '../helpers/clock.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { type Bank, makeQr, openSimulator } from '../helpers/simulator.ts';

interface Row {
  id: string;
  status: string;
  status_detail: string | null;
  error_code: string | null;
  gateway_order_id: string | null;
}

/**
 * Two services with one simulated bank. After every test the ledger is verified, and every payment that the bank has
 * paid must be one that the partner sees as paid.
 */
export async function startLiveWorld() {
  const { pool, clock } = await createTimedDatabase();
  const simulator = await openSimulator();
  const common = { pool, clock, gatewayUrl: simulator.address };
  /** Waits for an outcome as long as the manual clock does not move. */
  const patient = await startApi({ ...common, answerWithinMs: 60_000 });
  /** Answers at once, with `processing` if there is no outcome. */
  const hasty = await startApi({ ...common, answerWithinMs: 0, payTimeoutMs: 10_000 });
  const { deps } = patient;

  beforeEach(async () => {
    await simulator.call('DELETE', '/sim/faults');
    clock.advance(1);
    await setRate(pool, clock);
  });
  afterEach(() => expectSamePaymentsAtBank(pool, simulator));

  return {
    ...{ pool, clock, simulator, common, patient, hasty, deps },
    ...readersOf(pool, simulator),
    newCustomer: async (liveMicroUsdt?: bigint) => {
      const customer = await createPartnerWithKeys(pool, liveMicroUsdt);
      const partner = partnerAt(patient.address, customer.liveKey);
      const inHaste = partnerAt(hasty.address, customer.liveKey);
      const balance = async () => (await partner.get('/v1/balance')).json.balance_usdt as string;
      return { ...customer, partner, inHaste, balance };
    },
    qrWith: async (...faults: object[]) => {
      const qr = await makeQr(simulator);
      for (const fault of faults) expect((await qr.fault(fault)).status).toBe(200);
      return qr;
    },
    /** Orders of the patient service stay on their way to the bank until the test releases them. */
    holdOrders: () => {
      const [sent, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { pay } = deps.gateway;
      const spy = vi.spyOn(deps.gateway, 'pay').mockImplementation(async order => {
        sent.resolve();
        await released.promise;
        return pay(order);
      });
      const release = () => {
        spy.mockRestore();
        released.resolve();
      };
      return { sent: sent.promise, release };
    },
    recoverAfter: async (ms: number): Promise<void> => {
      clock.advance(ms);
      await recoverDuePayments(deps);
    },
  };
}

async function expectSamePaymentsAtBank(pool: Pool, simulator: Bank): Promise<void> {
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
  const { rows } = await pool.query<Row>(`SELECT id, status FROM payments WHERE mode = 'live'`);
  const idsOf = (status: string) =>
    rows.filter(row => row.status === status).map(row => idFromUuid('pay', row.id) as string);
  const unfinished = new Set(idsOf('processing'));
  const { orders, next_cursor } = (await simulator.call('GET', '/orders?limit=1000')).body;
  expect(next_cursor).toBeNull();
  const paid = orders
    .filter((order: { state: string }) => order.state === 'succeeded')
    .map((order: { payment_id: string }) => order.payment_id)
    .filter((id: string) => !unfinished.has(id));
  expect(paid.toSorted()).toEqual(idsOf('succeeded').toSorted());
}

function readersOf(pool: Pool, simulator: Bank) {
  const waiting = { timeout: 60_000, interval: 10 };
  const rowsOf = async (qrcId: string) => {
    const columns = 'id, status, status_detail, error_code, gateway_order_id';
    const text = `SELECT ${columns} FROM payments WHERE qrc_id = $1 ORDER BY id`;
    return (await pool.query<Row>(text, [qrcId])).rows;
  };
  const stateOf = async (qrcId: string) => (await simulator.call('GET', `/sim/qrs/${qrcId}`)).body.state;
  return {
    rowsOf,
    orderOf: async (paymentId: string) => (await simulator.call('GET', `/orders/${paymentId}`)).body,
    /** Waits until a stored payment for the code fits. */
    untilRow: (qrcId: string, fits: (row: Row) => boolean = () => true) =>
      vi.waitFor(async () => expect((await rowsOf(qrcId)).some(fits)).toBe(true), waiting),
    /** Waits until the bank has finished with the code. */
    untilBank: (qrcId: string, state: 'paid' | 'open') =>
      vi.waitFor(async () => expect(await stateOf(qrcId)).toBe(state), waiting),
  };
}

export const full = '1000.000000';
/** After one payment of 150 rubles at 92.50. */
export const less = '998.378378';

export const failed = (code: string) => ({
  status: 'failed',
  status_detail: 'gateway_declined',
  settled_at: expect.any(String),
  error: { code, message: expect.any(String) },
});
export const underReview = {
  status: 'processing',
  status_detail: 'manual_review',
  settled_at: null,
  error: null,
};
