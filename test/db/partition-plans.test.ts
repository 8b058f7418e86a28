import { randomUUID } from 'node:crypto';
import { test as base, describe, expect } from 'vitest';
import { idFromUuid } from '../../src/base/ids.ts';
import { fanOutNotices } from '../../src/bot/notices/fan-out.ts';
import { pruneNotices } from '../../src/db/notices/index.ts';
import { listCalls, pruneCalls } from '../../src/gateway/index.ts';
import { deliveryHistory, listAttempts, pruneLog } from '../../src/webhooks/index.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { explaining } from '../helpers/plans.ts';

const { pool, clock } = await createTimedDatabase();
const [partnerUuid, paymentUuid] = [randomUUID(), randomUUID()];
const [partnerId, paymentId] = [idFromUuid('prt', partnerUuid), idFromUuid('pay', paymentUuid)];
const weeks = 4;
const perWeek = 4_000;

/** In each week one row of the payment and its event, and many of others; half of them belong to the partner. */
async function fillWeek(week: number): Promise<void> {
  const values = [new Date(clock.nowMs()), partnerUuid, paymentUuid, perWeek];
  await pool.query(
    `INSERT INTO gateway_calls (payment_id, at, call, duration_ms, outcome, response)
     SELECT CASE WHEN n = 1 THEN $3::uuid ELSE gen_random_uuid() END, $1::timestamptz + make_interval(secs => n), 'poll', 1,
            'accepted', $2 FROM generate_series(1, $4::int) AS n`,
    values,
  );
  await pool.query(
    `INSERT INTO webhook_attempts (endpoint_id, partner_id, event_id, attempt, at, status, duration_ms)
     SELECT $2::uuid, CASE WHEN n % 2 = 1 THEN $2::uuid ELSE gen_random_uuid() END, CASE WHEN n = 1 THEN 1 ELSE $3 + n END, 1,
            $1::timestamptz + make_interval(secs => n), 500, 1 FROM generate_series(1, $4::int) AS n`,
    [values[0], partnerUuid, 1_000_000 * (week + 1), perWeek],
  );
  await pool.query(
    `INSERT INTO partner_notices (partner_id, kind, details, at, sent_at)
     SELECT $2, 'delivery_failed', '{}', t.at, CASE WHEN n > 1 THEN t.at END
       FROM generate_series(1, $3::int) AS n, LATERAL (SELECT $1::timestamptz + make_interval(secs => n) AS at) AS t`,
    [values[0], partnerUuid, perWeek],
  );
}

for (let week = 0; week < weeks; week++) {
  for (const prune of [pruneCalls, pruneLog, pruneNotices]) await prune(pool, clock);
  await fillWeek(week);
  clock.advance(7 * 86_400_000);
}
await pool.query(
  `INSERT INTO events (partner_id, mode, id, payment_id, at) OVERRIDING SYSTEM VALUE
   SELECT $1, 'live', e, CASE e WHEN 1 THEN $2::uuid ELSE gen_random_uuid() END, now()
     FROM (SELECT DISTINCT event_id FROM webhook_attempts WHERE partner_id = $1) AS a (e)`,
  [partnerUuid, paymentUuid],
);
for (const table of ['gateway_calls', 'webhook_attempts', 'partner_notices', 'events'])
  await pool.query(`VACUUM (ANALYZE) ${table}`);

/** A few blocks in each partition: the index down to its leaf, and the row. */
const maxBlocks = 60;
const test = base.extend('explained', () => explaining(pool));

describe('a look-up in a log uses the index of each partition:', () => {
  test('calls of a payment', async ({ explained: { db, blocks } }) => {
    expect(await listCalls(db, paymentId)).toHaveLength(weeks);
    expect(Math.max(...blocks())).toBeLessThan(2 * maxBlocks);
  });

  test('attempts of an event', async ({ explained: { db, blocks } }) => {
    // The first call of a function in a session also reads the catalog.
    await deliveryHistory(pool, { partnerId, mode: 'live', paymentId });
    const history = await deliveryHistory(db, { partnerId, mode: 'live', paymentId });
    expect(history?.attempts).toHaveLength(weeks);
    expect(Math.max(...blocks())).toBeLessThan(maxBlocks);
  });

  test('the last attempts of a partner, page by page', async ({ explained: { db, blocks } }) => {
    const [first, second] = [await listAttempts(db, partnerId, 5), await listAttempts(pool, partnerId, 10)];
    const next = await listAttempts(db, partnerId, 5, { before: first.at(-1)!.attemptId });
    expect([...first, ...next]).toEqual(second);
    expect(Math.max(...blocks())).toBeLessThan(2 * maxBlocks);
  });

  test('notices to send', async ({ explained: { db, blocks } }) => {
    // Its transactions are those of the pool.
    const through = new Proxy(pool, { get: (of, name) => Reflect.get(name === 'query' ? db : of, name) });
    await fanOutNotices(through, clock);
    expect(blocks()).toHaveLength(1);
    expect(blocks()[0]).toBeLessThan(maxBlocks);
    const { rows } = await pool.query(
      'SELECT count(*)::int AS count FROM partner_notices WHERE sent_at IS NULL',
    );
    expect(rows).toEqual([{ count: 0 }]);
  });
});
