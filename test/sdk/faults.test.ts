import { expect, test } from 'vitest';
import { Kopeck, KopeckError, type Payment, type PaymentParams } from '../../sdk/src/index.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { setLimits } from '../../src/partners/index.ts';
import { createPartnerWithKeys, newLink, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { createRandom } from '../helpers/random.ts';

const { pool } = await createDatabase();
await setRate(pool);
// How long a retry waits for a payment that is still open.
const { address } = await startApi({ pool, answerWithinMs: 100 });
const seed = Number(process.env.SEED ?? 1);
const count = 150;

/** Failures of the network on either side of the service. Those with `after` in their name have reached it. */
const faults = [
  'cut before',
  'cut after',
  'cut within the answer',
  '503 before',
  '503 after',
  '429 before',
  '500 without a body before',
  '500 without a body after',
  '502 with a page after',
] as const;

async function fetchWith(fault: (typeof faults)[number], url: string, init: RequestInit): Promise<Response> {
  if (fault === 'cut before') throw new TypeError('fetch failed');
  if (fault === '503 before') return new Response(null, { status: 503, headers: { 'retry-after': '1' } });
  if (fault === '429 before') return new Response('slow', { status: 429, headers: { 'retry-after': '3' } });
  if (fault === '500 without a body before') return new Response(null, { status: 500 });
  const answer = await fetch(url, init);
  const text = await answer.text();
  if (fault === 'cut after') throw new TypeError('fetch failed');
  if (fault === '503 after') return new Response('{"nonsense":true}', { status: 503 });
  if (fault === '500 without a body after') return new Response(null, { status: 500 });
  if (fault === '502 with a page after') return new Response('<h1>Bad Gateway</h1>', { status: 502 });
  const half = new ReadableStream<Uint8Array>({
    start: controller => controller.enqueue(new TextEncoder().encode(text.slice(0, text.length / 2))),
    pull: controller => controller.error(new TypeError('terminated')),
  });
  return new Response(half, { status: answer.status });
}

test(`${count} payments with faults are ${count} payments, none twice (SEED=${seed})`, async () => {
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  // Every tenth stays open for 30 s.
  await setLimits(auditContextOf(pool), partnerId, { concurrent: 10_000 });
  const random = createRandom(seed);
  const happened = new Map(faults.map(fault => [fault, 0]));
  const kopeck = new Kopeck({
    apiKey: testKey,
    baseUrl: address,
    maxRetries: 3,
    sleep: async () => {},
    fetch: (url, init) => {
      const fault = random.chance(0.5) ? random.pick(faults) : undefined;
      if (fault === undefined) return fetch(url, init);
      happened.set(fault, happened.get(fault)! + 1);
      return fetchWith(fault, url, init);
    },
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
  const orders = Array.from({ length: count }, (_, index) => ({
    qr_url: newLink(1_000 + [0, 0, 0, 0, 0, 0, 0, 0, 1, 2][index % 10]!),
    external_id: `order-${index}`,
    metadata: { index },
  }));
  const waiting = [...orders];
  const answers: Payment[] = [];
  const shop = async () => {
    for (let order = waiting.pop(); order; order = waiting.pop()) answers.push(await pay(order));
  };
  await Promise.all(Array.from({ length: 16 }, shop));

  const { rows } = await pool.query<{ payments: number; orders: number; codes: number; keys: number }>({
    text: `SELECT count(*)::int AS payments, count(DISTINCT external_id)::int AS orders,
                  count(DISTINCT qrc_id)::int AS codes, count(DISTINCT idempotency_key)::int AS keys
             FROM payments WHERE partner_id = $1 AND NOT rejected`,
    values: [uuidFromId(partnerId)],
  });
  expect(rows).toEqual([{ payments: count, orders: count, codes: count, keys: count }]);
  expect(new Set(answers.map(({ id }) => id)).size).toBe(count);
  expect((await verifyLedger(pool)).findings).toEqual([]);
  // The test proves something only if every kind of fault occurred, and some calls used up their retries.
  for (const fault of faults) expect(happened.get(fault), fault).toBeGreaterThan(3);
  expect(calledAgain).toBeGreaterThan(3);
});
