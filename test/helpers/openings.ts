import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import type { createPaymentWriter } from '../../src/payments/store.ts';
import { newPaymentId } from './database.ts';

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
