import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { type Id, idFromUuid, uuidFromId } from '../../src/base/ids.ts';
import type { Gateway } from '../../src/gateway/index.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { findPartner, setLimits } from '../../src/partners/index.ts';
import { createPayment, decidePayment } from '../../src/payments/index.ts';
import { createPartnerWithKeys, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { endOfTime } from '../helpers/clock.ts';
import { auditContextOf, type createDatabase, createTimedDatabase } from '../helpers/database.ts';
import { openingsOf } from '../helpers/openings.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';

/** The API with a simulated bank and a manual clock; the ledger is verified after every test. */
export async function startRecoveryWorld() {
  const { pool, clock } = await createTimedDatabase();
  const simulator = await openSimulator();
  const { address, deps } = await startApi({ pool, clock, gatewayUrl: simulator.address, answerWithinMs: 0 });

  beforeEach(async () => {
    clock.advance(1);
    await setRate(pool, clock);
  });
  afterEach(async () => {
    expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
  });

  async function newCustomer() {
    const customer = await createPartnerWithKeys(pool);
    const partner = partnerAt(address, customer.liveKey);
    const limits = (await findPartner(pool, customer.partnerId))!.limits;
    const balance = async () => (await partner.get('/v1/balance')).json.balance_usdt as string;
    return {
      ...customer,
      partner,
      balance,
      caller: { partnerId: customer.partnerId, mode: 'live', limits } as const,
    };
  }
  type Customer = Awaited<ReturnType<typeof newCustomer>>;

  async function qrWith(...faults: object[]) {
    const qr = await makeQr(simulator);
    for (const fault of faults) expect((await qr.fault(fault)).status).toBe(200);
    return qr;
  }

  /** A payment that the bank has accepted and will not finish while the test runs. */
  async function accepted({ partner }: Customer): Promise<Id<'pay'>> {
    const qr = await qrWith({ on: 'pay', kind: 'finish_later', ms: 86_400_000, outcome: 'succeeded' });
    const { id, status } = (await partner.pay({ qr_url: qr.link })).json;
    expect(status).toBe('processing');
    return id;
  }

  /** So many payments that are due, without orders. */
  async function openMany({ partnerId }: Customer, count: number): Promise<void> {
    await setLimits(auditContextOf(pool), partnerId, { concurrent: 1_000 });
    const opening = await openingsOf(pool, clock);
    await Promise.all(Array.from({ length: count }, () => deps.writer.open(opening(partnerId))));
    clock.advance(60_000);
  }
  const endAll = async () => {
    const { rows } = await pool.query<{ payment_id: string }>('SELECT payment_id FROM open_payments');
    const ids = rows.map(({ payment_id }) => idFromUuid('pay', payment_id));
    const word = { outcome: 'failed', reason: 'test' } as const;
    await Promise.all(ids.map(id => decidePayment(auditContextOf(pool, clock), id, word)));
  };

  /** Of the payment of this code, as soon as there is one. */
  const idOf = ({ qrc_id }: Awaited<ReturnType<typeof qrWith>>) =>
    vi.waitFor(async () => {
      const { rows } = await pool.query('SELECT id FROM payments WHERE qrc_id = $1', [qrc_id]);
      return idFromUuid('pay', rows[0].id);
    }, 60_000);

  /** Creates a payment whose gateway gives the answer that the test chooses, when it chooses. */
  async function unanswered({ caller }: Customer) {
    const qr = await qrWith();
    let answer = (_answer: Awaited<ReturnType<Gateway['pay']>>) => {};
    const pay: Gateway['pay'] = () => new Promise(resolve => (answer = resolve));
    const creation = createPayment(
      { ...deps, gateway: { ...deps.gateway, pay } },
      caller,
      requestFor(qr.link),
    );
    return {
      paymentId: await idOf(qr),
      creation,
      answer: (word: Parameters<typeof answer>[0]) => answer(word),
    };
  }

  return {
    ...{ pool, clock, simulator, deps, address, audit: auditContextOf(pool, clock) },
    ...{ newCustomer, qrWith, accepted, openMany, endAll, unanswered, idOf },
    recover: (gateway: Partial<Gateway> = {}) =>
      recoverDuePayments({ ...deps, gateway: { ...deps.gateway, ...gateway } }),
    ...readersOf(pool),
  };
}

function readersOf(pool: Awaited<ReturnType<typeof createDatabase>>['pool']) {
  const rowsOf = async (text: string, paymentId: Id<'pay'>) =>
    (await pool.query(text, [uuidFromId(paymentId)])).rows;
  return {
    statusOf: async (id: Id<'pay'>) =>
      (await rowsOf('SELECT status, status_detail, error_code FROM payments WHERE id = $1', id))[0],
    openRowOf: async (id: Id<'pay'>) =>
      (await rowsOf('SELECT * FROM open_payments WHERE payment_id = $1', id))[0],
    eventsOf: async (id: Id<'pay'>) =>
      (await rowsOf('SELECT id FROM events WHERE payment_id = $1', id)).length,
    movesOf: async (id: Id<'pay'>) =>
      (await rowsOf('SELECT entry_no FROM entries WHERE payment_id = $1', id)).length,
    alarmsOf: async (subject: Id<'pay'>, cleared = false) =>
      (await listAlarms(pool, { cleared }))
        .filter(alarm => alarm.subject === subject)
        .map(({ kind, times, clearedBy }) => ({ kind, times, clearedBy })),
  };
}

export const requestFor = (qrUrl: string) => ({
  qrUrl,
  amountKopecks: undefined,
  externalId: null,
  metadata: new Map(),
  idempotencyKey: randomUUID(),
});
