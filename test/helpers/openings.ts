import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { type Limits, setLimits } from '../../src/partners/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { endOfTime } from './clock.ts';
import { auditContextOf, createFundedPartner, newPaymentId } from './database.ts';

type Opening = Parameters<ReturnType<typeof createPaymentWriter>['open']>[0];

/** Makes openings of 150 rubles, each of its own QR code and key, for tests that open payments without a request. */
export async function openingsOf(pool: Pool, clock: Clock) {
  const { rows } = await pool.query<{ id: bigint }>('SELECT max(id) AS id FROM rates');
  const rateId = rows[0]!.id;
  return (partnerId: Id<'prt'>, change: Partial<Opening> = {}): Opening => ({
    ...{ partnerId, mode: 'live', paymentId: newPaymentId(), idempotencyKey: randomUUID() },
    ...{ requestHash: Buffer.alloc(32), externalId: null, qrcId: randomUUID(), qrUrl: 'u', fingerprint: 'f' },
    ...{ recipient: 'r', amountKopecks: 15_000n, microUsdt: 1_621_622n, rateE4: 925_000n, metadata: '{}' },
    ...{ rateId, rateStaleAt: new Date(clock.nowMs() + 300_000), nextAt: new Date(clock.nowMs() + 60_000) },
    ...{ leaseHolder: null, ...change },
  });
}

/** How often there is each. */
export const countEach = (values: string[]) =>
  Object.fromEntries(
    Array.from(
      Map.groupBy(values, value => value),
      ([value, all]) => [value, all.length],
    ),
  );

/** What payments without a request need: the writer of a process, openings, partners, and the check of the books. */
export async function startOpenings(pool: Pool, clock: Clock) {
  const opening = await openingsOf(pool, clock);
  const writer = createPaymentWriter(pool, clock);
  const openAll = (payments: Opening[]) => Promise.all(payments.map(payment => writer.open(payment)));
  return {
    ...{ opening, writer, openAll },
    verdictsOf: async (...payments: Opening[]) => (await openAll(payments)).map(({ verdict }) => verdict),
    newPartner: async (limits: Partial<Limits> = { concurrent: 10_000 }, microUsdt = 10n ** 12n) => {
      const partnerId = await createFundedPartner(pool, microUsdt);
      await setLimits(auditContextOf(pool), partnerId, limits);
      return partnerId;
    },
    findings: async () => (await verifyLedger(pool, { now: endOfTime })).findings,
  };
}
