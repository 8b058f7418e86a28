import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { newId, uuidFromId } from '../../src/base/ids.ts';
import { createThroughputReader } from '../../src/payments/index.ts';
import { setRate } from '../helpers/api.ts';
import { answers, startConsole } from '../helpers/console.ts';
import { createFundedPartner, createTimedDatabase } from '../helpers/database.ts';
import { explaining } from '../helpers/plans.ts';

const { pool, sql, clock } = await createTimedDatabase('2026-11-20T12:00:30Z');
const { signIn, deps } = await startConsole({ pool, clock });
const viewer = await signIn('viewer');
const partnerId = await createFundedPartner(pool, 7_000_000n);

type Status = 'processing' | 'succeeded' | 'failed' | 'rejected';
async function pay(status: Status, tookMs: number, mode = 'live') {
  const at = clock.nowMs();
  const error = status === 'failed' || status === 'rejected' ? 'gateway_declined' : null;
  const settledAt = status === 'processing' ? null : new Date(at + tookMs);
  await sql`
    INSERT INTO payments (partner_id, mode, id, status, rejected, idempotency_key, request_hash, qrc_id, qr_url,
                          fingerprint, recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata, error_code,
                          created_at, settled_at)
    VALUES (${uuidFromId(partnerId)}, ${mode}, ${uuidFromId(newId('pay', clock))}, ${status}, ${status === 'rejected'},
            ${randomUUID()}, '', 'AD1', '', '', 'Shop', 100, 1, 1, 1, '{}', ${error}, ${new Date(at)}, ${settledAt})`;
}
const look = async (minutes = 10) => (await viewer.get(`/overview?minutes=${minutes}`)).json;

test('an empty service has an empty overview', async () => {
  expect(await look()).toMatchObject({
    created: 0,
    success_share: null,
    settle_p50_ms: null,
    rate: null,
    balances: { available_usdt: '7.000000', partners: 1 },
    review: { count: 0, oldest_at: null, overdue: 0 },
    deliveries: { waiting: 0, failing: 0, given_up: 0, suspended_partners: 0 },
    alarms: [],
    maintenance: false,
  });
  expect((await look()).per_minute).toHaveLength(10);
});

test('payments per minute, share of successes and duration', async () => {
  await setRate(pool, clock);
  for (let index = 0; index < 98; index++) await pay('succeeded', 200);
  await pay('failed', 5_000);
  await pay('failed', 5_000);
  await pay('rejected', 1);
  await pay('succeeded', 1, 'test');
  clock.advance(60_000);
  await pay('processing', 0);
  const now = await look();
  expect(now).toMatchObject({ created: 101, succeeded: 98, failed: 2, processing: 1, success_share: 0.98 });
  expect(now.per_minute.slice(-2)).toEqual([
    { at: '2026-11-20T12:00:00.000Z', created: 100, succeeded: 98, failed: 2 },
    { at: '2026-11-20T12:01:00.000Z', created: 1, succeeded: 0, failed: 0 },
  ]);
  expect(now.settle_p50_ms).toBeGreaterThan(190);
  expect(now.settle_p50_ms).toBeLessThan(210);
  expect(now.settle_p99_ms).toBeGreaterThan(4_800);
  expect(now.settle_p99_ms).toBeLessThan(5_200);
  expect(now.rate).toMatchObject({ rate: '92.5000' });
});

test('a payment that ends late is counted when it ends; minutes that are over are not read again', async () => {
  clock.advance(300_000);
  expect(await look()).toMatchObject({ created: 101, processing: 1 });
  await sql`UPDATE payments SET status = 'succeeded', settled_at = created_at WHERE status = 'processing'`;
  clock.advance(2_000);
  expect(await look()).toMatchObject({ created: 101, succeeded: 99, processing: 0 });
  // From here on only the last minutes are read: the others cannot change any more.
  await pay('succeeded', 1);
  clock.advance(2_000);
  expect(await look()).toMatchObject({ created: 102, succeeded: 100 });
  clock.advance(600_000);
  expect(await look()).toMatchObject({ created: 0, success_share: null });
});

test('concurrent requests share one answer for about a second', async () => {
  clock.advance(60_000);
  const before = await look(5);
  await pay('succeeded', 5);
  expect(await look(5)).toEqual(before);
  clock.advance(1_500);
  expect((await look(5)).created).toBe(before.created + 1);
});

test('a change by an operator invalidates the cached overview', async () => {
  const support = await signIn('support');
  await deps.alarms.raise({ kind: 'rate_jump', subject: 'fixed', detail: 'by 12 %' });
  clock.advance(1_500);
  const [alarm] = (await look(5)).alarms;
  await answers(200, support.post(`/alarms/${alarm.alarm_id}/clear`));
  expect((await look(5)).alarms).toEqual([]);
});

test('the last minutes are read by index', async () => {
  await sql`INSERT INTO payments (partner_id, mode, id, status, idempotency_key, request_hash, qrc_id, qr_url, fingerprint,
                           recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata, created_at, settled_at)
       SELECT ${uuidFromId(partnerId)}, 'live', ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'succeeded', 'many ' || n, '',
              'AD1', '', '', 'Shop', 100, 1, 1, 1, '{}', '2020-01-01', '2020-01-01'
         FROM generate_series(1, 5000) AS n`;
  await pool.query('ANALYZE payments');
  const { db, blocks, scanned } = explaining(pool);
  await createThroughputReader(db, clock).read(60);
  expect(scanned()).not.toContain('payments');
  expect(Math.max(...blocks())).toBeLessThan(50);
});
