import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { createPrunes } from '../../src/runtime/prunes.ts';
import { createDatabase, createFundedPartner, createTimedDatabase } from '../helpers/database.ts';
import { createPast } from '../payments/archive-world.ts';

const { pool, clock } = await createTimedDatabase();
const partner = uuidFromId(await createFundedPartner(pool, 1n));
const ago = (days: number) => new Date(clock.nowMs() - days * 86_400_000);
const pruneAll = async (each: Pool) => {
  for (const prune of createPrunes({ testDataDays: 100, requestLogDays: 7 })) await prune(each, clock);
};

const unique = 'gen_random_uuid()::text';
/** What stays for how long, its columns, and a row: `$1` is the time from which on the age counts. */
const retentions = `
  365 days: cleared alarms
    alarms (kind, subject, detail, first_at, last_at, cleared_at, cleared_by)
    'k', ${unique}, '', $1, $1, $1, 'x'
  30 days: invitations, from their end
    invitations (hash, partner_id, role, expires_at)
    sha256(uuid_send(gen_random_uuid())), '${partner}', 'viewer', $1
  2 days: counts of changes
    daily_changes (owner, day, count)
    ${unique}, $1, 1
  365 days: maintenance windows, from their end
    maintenance_windows (from_at, until_at, planned_by, planned_at)
    $1::timestamptz - interval '1 h', $1, 'x', $1
  365 days: reconciliations
    reconciliations (actor, from_at, until_at, started_at, finished_at)
    'operator', $1, $1, $1, $1
  30 days: test refusals
    test_refusals (partner_id, idempotency_key, times, at)
    '${partner}', ${unique}, 1, $1
  30 days: deliveries that were given up
    deliveries (endpoint_id, partner_id, event_id, mode, payment_id, next_at, failed_at)
    '${partner}', '${partner}', (random() * 1e9)::int, 'live', gen_random_uuid(), $1, $1
  90 days: people who wrote to the bot and joined no team
    chat_users (user_id, language, created_at)
    (random() * 1e9)::int, 'en', $1`;
const lines = retentions.trim().split(/\n +/);
const kept = Array.from({ length: lines.length / 3 }, (_, nth) => lines.slice(3 * nth, 3 * nth + 3));

test.each(kept)('%s', async (title, table, values) => {
  const days = Number.parseInt(title!, 10);
  const name = table!.split(' ')[0];
  for (const age of [days + 0.001, days - 0.001])
    await pool.query(`INSERT INTO ${table} SELECT ${values!.replace('$1', '$1::timestamptz')}`, [ago(age)]);
  const count = async () => (await pool.query(`SELECT count(*)::int AS count FROM ${name}`)).rows[0].count;
  expect(await count()).toBe(2);
  await pruneAll(pool);
  expect(await count()).toBe(1);
});

test('open alarms and members stay, and so does the run after which the next one begins', async () => {
  const { pool: other } = await createDatabase();
  const team = uuidFromId(await createFundedPartner(other, 1n));
  const insert = (text: string, ...values: unknown[]) => other.query(`INSERT INTO ${text}`, values);
  const long = ago(9_999);
  await insert(
    "alarms (kind, subject, detail, first_at, last_at) SELECT 'k', 's', '', $1::timestamptz, $1",
    long,
  );
  await insert("chat_users (user_id, language, created_at) VALUES (7, 'en', $1)", long);
  await insert(
    "members (partner_id, user_id, role, name, joined_at) VALUES ($1, 7, 'owner', 'A', $2)",
    ...[team, long],
  );
  for (const age of [500, 450, 400])
    await insert(
      `reconciliations (actor, from_at, until_at, started_at, finished_at, differences)
       SELECT 'kopeck', $1::timestamptz, $1, $1, $1, '[]'`,
      ago(age),
    );
  await pruneAll(other);
  const { rows } = await other.query(`SELECT (SELECT count(*) FROM alarms)::int AS alarms,
    (SELECT count(*) FROM chat_users)::int AS users, (SELECT array_agg(started_at) FROM reconciliations) AS runs`);
  expect(rows).toEqual([{ alarms: 1, users: 1, runs: [ago(400)] }]);
});

test('what keys with a daily limit spent goes after three days', async () => {
  for (const age of [5, 2]) {
    await pool.query("INSERT INTO key_turnovers (key_id, day, kopecks) VALUES ('a', $1, 1)", [ago(age)]);
    await pool.query(
      "INSERT INTO key_unsettled (key_id, payment_id, day, kopecks) VALUES ('a', gen_random_uuid(), $1, 1)",
      [ago(age)],
    );
  }
  await pruneAll(pool);
  const { rows } = await pool.query(
    'SELECT (SELECT count(*) FROM key_turnovers)::int AS turnovers, (SELECT count(*) FROM key_unsettled)::int AS unsettled',
  );
  expect(rows).toEqual([{ turnovers: 1, unsettled: 1 }]);
});

test('orders that a dead process has listed go after a week', async () => {
  for (const age of [8, 6])
    await pool.query(
      `WITH run AS (INSERT INTO reconciliations (actor, from_at, until_at, started_at)
                      SELECT 'operator', $1::timestamptz, $1, $1 RETURNING id)
       INSERT INTO listed_orders (run_id, order_id, payment, state, amount_kopecks)
         SELECT id, 'order ' || n, '', 'succeeded', 1 FROM run, generate_series(1, 3) AS n`,
      [ago(age)],
    );
  await pruneAll(pool);
  const { rows } = await pool.query('SELECT count(*)::int AS count FROM listed_orders');
  expect(rows).toEqual([{ count: 3 }]);
});

test('test payments go after as many whole days as the setting says; live ones stay', async () => {
  const { pool: other } = await createDatabase();
  const past = await createPast(other);
  const shop = await past.newPartner();
  for (const age of [101, 100]) {
    past.at(ago(age).toISOString());
    for (const mode of ['live', 'test'] as const) await past.pay(shop, { mode });
  }
  await pruneAll(other);
  const { rows } = await other.query('SELECT mode, count(*)::int FROM payments GROUP BY 1 ORDER BY 1');
  expect(rows).toEqual([
    { mode: 'live', count: 2 },
    { mode: 'test', count: 1 },
  ]);
});
