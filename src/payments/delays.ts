import { type Queryable, readValue } from '../db/postgres/index.ts';

/** How many partners have a live payment from before that time without an outcome. Those that are with support are left out: they wait for people. */
export const countDelayedPartners = (db: Queryable, before: Date) =>
  readValue<number>(db, {
    text: `SELECT count(DISTINCT o.partner_id)::int
             FROM open_payments o JOIN payments p ON p.partner_id = o.partner_id AND p.mode = o.mode AND p.id = o.payment_id
            WHERE o.mode = 'live' AND o.support_since IS NULL AND p.created_at < $1`,
    values: [before],
  });
