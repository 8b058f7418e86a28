import { type Queryable, readRow } from '../../db/postgres/index.ts';

export interface DeliveryCounts {
  /** Not delivered yet. */
  waiting: number;
  /** Those of them with at least one failed attempt. */
  failing: number;
  givenUp: number;
  /** With at least one suspended endpoint. */
  suspendedPartners: number;
}

export const countDeliveries = (db: Queryable) =>
  readRow<DeliveryCounts>(db, {
    text: `SELECT count(*) FILTER (WHERE failed_at IS NULL)::int AS waiting,
                  count(*) FILTER (WHERE failed_at IS NULL AND attempts > 0)::int AS failing,
                  count(failed_at)::int AS "givenUp",
                  (SELECT count(DISTINCT partner_id)::int FROM endpoints WHERE suspended_at IS NOT NULL) AS "suspendedPartners"
             FROM deliveries`,
  });
