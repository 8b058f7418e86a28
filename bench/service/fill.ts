import { uuidFromId } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/index.ts';
import { type BenchEnvironment, countPayments } from './environment.ts';
import type { PayingPartner } from './partners.ts';

/**
 * Inserts $2 settled test payments per partner in one statement, as the service would store them: rows of `payments`,
 * `entries`, `events` and `deliveries`, and matching balances. Ids ascend in time and partners alternate, so pages and indexes look as
 * if the payments had been made one by one.
 */
const fillStatement = `
  WITH terms AS (
    SELECT 1000::bigint AS kopecks, 109200::bigint AS micro_usdt, r.id AS rate_id, r.rate_e4
      FROM rates r ORDER BY r.id DESC LIMIT 1
  ), books AS MATERIALIZED (
    SELECT * FROM accounts WHERE mode = 'test' AND partner_id = ANY ($1) ORDER BY partner_id FOR UPDATE
  ), made AS MATERIALIZED (
    SELECT b.partner_id, b.mode, t.*, uuidv7() AS id, now() AS at, nth,
           upper(substr(replace(gen_random_uuid()::text, '-', ''), 1, 30)) AS code,
           b.available - nth * t.micro_usdt AS available, b.held, b.settled + nth * t.micro_usdt AS settled,
           b.entry_count + 2 * nth AS entry_no
      FROM generate_series(1, $2::bigint) AS nth CROSS JOIN books b CROSS JOIN terms t
  ), payments_made AS (
    INSERT INTO payments (partner_id, mode, id, status, idempotency_key, request_hash, qrc_id, qr_url, fingerprint,
                          recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata, created_at, settled_at)
    SELECT partner_id, mode, id, 'succeeded', gen_random_uuid()::text, sha256(id::text::bytea), 'AD' || code,
           'https://qr.nspk.ru/AD' || code || '?type=02&sum=1000&cur=RUB', 'test', 'Test recipient', kopecks, micro_usdt,
           rate_e4, rate_id, '{}', at, at
      FROM made
  ), entries_made AS (
    INSERT INTO entries (partner_id, mode, entry_no, from_account, to_account, micro_usdt, from_after, to_after,
                         payment_id, created_at)
    SELECT m.partner_id, m.mode, e.no, e.source, e.target, m.micro_usdt, e.from_after, e.to_after, m.id, m.at
      FROM made m, LATERAL (VALUES
           (m.entry_no - 1, 'available'::account, 'held'::account, m.available, m.held + m.micro_usdt),
           (m.entry_no, 'held', 'settled', m.held, m.settled)) AS e (no, source, target, from_after, to_after)
  ), events_made AS (
    INSERT INTO events (partner_id, mode, payment_id, at) SELECT partner_id, mode, id, at FROM made
    RETURNING id, partner_id, mode, payment_id, at
  ), deliveries_made AS (
    INSERT INTO deliveries (endpoint_id, event_id, partner_id, mode, payment_id, next_at)
    SELECT w.endpoint_id, e.id, e.partner_id, e.mode, e.payment_id, e.at
      FROM events_made e JOIN endpoints w ON w.partner_id = e.partner_id AND w.is_first
  )
  UPDATE accounts a
     SET available = m.available, settled = m.settled, entry_count = m.entry_no, turnover_day = t.today,
         turnover_kopecks = CASE WHEN a.turnover_day = t.today THEN a.turnover_kopecks ELSE 0 END + m.nth * m.kopecks,
         opened_on_day = CASE WHEN a.turnover_day = t.today THEN a.opened_on_day ELSE 0 END + m.nth
    FROM made m, (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS t
   WHERE a.partner_id = m.partner_id AND a.mode = m.mode AND m.nth = $2`;

/** Payments per partner in one statement. */
const batchSize = 50;

export const storePayments = (pool: Pool, partners: Pick<PayingPartner, 'partnerId'>[], each: number) =>
  pool.query({
    name: 'fill',
    text: fillStatement,
    values: [partners.map(({ partnerId }) => uuidFromId(partnerId)), each],
  });

/** Stores payments up to `target`, then vacuums and checkpoints. */
export async function fill(
  { pool, partners }: BenchEnvironment,
  target: number,
  progress: (line: string) => void,
): Promise<void> {
  let stored = await countPayments(pool);
  let reportedAt = performance.now();
  while (stored < target) {
    const each = Math.min(batchSize, Math.ceil((target - stored) / partners.length));
    await storePayments(pool, partners, each);
    stored += each * partners.length;
    if (performance.now() - reportedAt > 5_000) {
      reportedAt = performance.now();
      progress(`Storing payments: ${stored} of ${target} …`);
    }
  }
  await vacuumAndCheckpoint(pool);
}

/** Otherwise autovacuum and the checkpointer could run during a measurement. */
async function vacuumAndCheckpoint(pool: Pool): Promise<void> {
  await pool.query('VACUUM ANALYZE payments, entries, events, accounts, open_payments');
  await pool.query('CHECKPOINT');
}
