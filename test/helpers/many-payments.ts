import { uuidFromId } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { createPartner } from '../../src/partners/index.ts';
import { auditContextOf, setRate } from './partners.ts';

/**
 * Many payments of some partners, written past the service: one in fifty in test mode, one in twenty failed, one in a
 * hundred a rejected attempt. Newest last; ids begin with the time of creation. Balances do not match: this is for
 * tests of lists.
 */
const statement = `
  WITH made AS MATERIALIZED (
    SELECT nth, $1::uuid[] AS partners, m.at, m.mode, m.id, m.status,
           upper(md5('code' || nth)) AS code
      FROM generate_series($2::bigint, $3::bigint) AS nth,
           LATERAL (SELECT $4::timestamptz + nth * interval '100 ms' AS at,
                           CASE WHEN nth % 50 = 0 THEN 'test' ELSE 'live' END::mode AS mode,
                           CASE WHEN nth % 100 = 99 THEN 'rejected' WHEN nth % 20 = 7 THEN 'failed'
                                ELSE 'succeeded' END::payment_status AS status) AS s,
           LATERAL (SELECT s.at, s.mode, s.status,
                           (lpad(to_hex((extract(epoch FROM s.at) * 1000)::bigint), 12, '0') || '7000'
                            || '8' || substr(md5('id' || nth), 1, 15))::uuid AS id) AS m
  ), kept AS (
    INSERT INTO payments (partner_id, mode, id, status, status_detail, rejected, idempotency_key, request_hash, external_id,
                          qrc_id, qr_url, fingerprint, recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata,
                          error_code, created_at, settled_at)
    SELECT partners[1 + nth % cardinality(partners)], mode, made.id, status,
           CASE status WHEN 'failed' THEN 'gateway_declined'::payment_detail END, status = 'rejected', 'key-' || nth, '\\x00',
           CASE WHEN nth % 3 = 0 THEN 'order-' || nth END, 'AD' || substr(code, 1, 30),
           'https://qr.nspk.ru/AD' || substr(code, 1, 30), 'f',
           CASE WHEN nth % 2 = 0 THEN 'Пятёрочка' WHEN nth % 7 = 0 THEN 'Ромашка ' || nth % 1000 ELSE 'ИП Иванов ' || nth END,
           CASE WHEN nth % 2 = 0 THEN 10000 ELSE 1000 + nth % 90000 END, 109200, 915750, r.id, '{}',
           CASE WHEN status IN ('failed', 'rejected') THEN 'gateway_declined' END, at, at + interval '1 s'
      FROM made, (SELECT id FROM rates ORDER BY id DESC LIMIT 1) AS r
  )
  INSERT INTO entries (partner_id, mode, entry_no, from_account, to_account, micro_usdt, from_after, to_after, payment_id,
                       created_at)
  SELECT partners[1 + nth % cardinality(partners)], mode, 1000 + nth, 'held',
         CASE status WHEN 'succeeded' THEN 'settled' ELSE 'available' END::account, 109200, 0, 0, id, at
    FROM made`;

export interface ManyPayments {
  partners: `prt_${string}`[];
  firstAt: Date;
}

/** Inserts this many, the last of them just now, and analyses the tables as autovacuum would. */
export async function storeManyPayments(pool: Pool, count: number, partnerCount = 20): Promise<ManyPayments> {
  await setRate(pool);
  const partners: ManyPayments['partners'] = [];
  for (let nth = 0; nth < partnerCount; nth++)
    partners.push((await createPartner(auditContextOf(pool), `Shop ${nth}`)).partnerId);
  const firstAt = new Date(Date.now() - count * 100);
  // Few enough per statement to stay within the statement timeout on a busy machine.
  const atOnce = 2_500;
  for (let from = 1; from <= count; from += atOnce)
    await pool.query(statement, [
      partners.map(uuidFromId),
      from,
      Math.min(count, from + atOnce - 1),
      firstAt,
    ]);
  await pool.query('VACUUM ANALYZE payments, entries, open_payments, partners');
  return { partners, firstAt };
}
