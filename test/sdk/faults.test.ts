import { expect, test } from 'vitest';
import { Kopeck, KopeckError, type Payment, type PaymentParams } from '../../sdk/src/index.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { setLimits } from '../../src/partners/index.ts';
import { createPartnerWithKeys, newLink, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { createRandom } from '../helpers/random.ts';
import { faults, startProxy } from './proxy.ts';

const { pool } = await createDatabase();
await setRate(pool);
// How long a retry waits for a payment that is still open.
const { address } = await startApi({ pool, answerWithinMs: 100 });
const seed = Number(process.env.SEED ?? 1);

test(`1 000 payments with faults are 1 000 payments, none twice (SEED=${seed})`, async () => {
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  // Every tenth stays open for 30 s.
  await setLimits(auditContextOf(pool), partnerId, { concurrent: 10_000 });
  const proxy = await startProxy({
    target: address,
    random: createRandom(seed),
    share: 0.5,
    tooLateMs: 1_500,
  });
  const kopeck = new Kopeck({
    apiKey: testKey,
    baseUrl: proxy.address,
    timeoutMs: 1_000,
    maxRetries: 3,
    sleep: async () => {},
  });

  /** As a shop does it: calls again after errors that may go away. */
  async function pay(params: PaymentParams): Promise<Payment> {
    for (;;) {
      try {
        return await kopeck.payments.create(params);
      } catch (error) {
        if (!(error instanceof KopeckError) || !error.retryable) throw error;
        expect(error).toMatchObject({ sameKey: true, idempotencyKey: expect.any(String) });
        calledAgain++;
      }
    }
  }

  let calledAgain = 0;
  // Most succeed at once, some are declined, some stay open.
  const orders = Array.from({ length: 1_000 }, (_, index) => ({
    qr_url: newLink(1_000 + [0, 0, 0, 0, 0, 0, 0, 0, 1, 2][index % 10]!),
    external_id: `order-${index}`,
    metadata: { index },
  }));
  const waiting = [...orders];
  const answers: Payment[] = [];
  const shop = async () => {
    for (let order = waiting.pop(); order; order = waiting.pop()) answers.push(await pay(order));
  };
  // Most of them wait for a fault to end.
  await Promise.all(Array.from({ length: 64 }, shop));

  const { rows } = await pool.query<{ payments: number; orders: number; codes: number; keys: number }>({
    text: `SELECT count(*)::int AS payments, count(DISTINCT external_id)::int AS orders,
                  count(DISTINCT qrc_id)::int AS codes, count(DISTINCT idempotency_key)::int AS keys
             FROM payments WHERE partner_id = $1 AND NOT rejected`,
    values: [uuidFromId(partnerId)],
  });
  expect(rows).toEqual([{ payments: 1_000, orders: 1_000, codes: 1_000, keys: 1_000 }]);
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1_000);
  expect((await verifyLedger(pool)).findings).toEqual([]);
  // The test proves something only if every kind of fault occurred, and some calls used up their retries.
  for (const fault of faults) expect(proxy.happened.get(fault), fault).toBeGreaterThan(20);
  expect(calledAgain).toBeGreaterThan(20);
}, 240_000);
