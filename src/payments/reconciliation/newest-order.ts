import { findRow, hasRow, type Queryable, withIds } from '../../db/postgres/index.ts';
import type { Order } from '../../gateway/index.ts';
import { newestAnywhere } from '../archive/pages.ts';

/** The newest of our orders that a gateway has accepted; undefined if there is none. */
export async function findNewestOrder(db: Queryable) {
  const row = await findRow(db, {
    text: `SELECT p.id AS "paymentId", p.amount_kopecks AS "amountKopecks"
             FROM (${newestAnywhere("p.mode = 'live' AND NOT p.rejected AND p.gateway_order_id IS NOT NULL", 1)}) AS p
            ORDER BY p.id DESC LIMIT 1`,
  });
  return row && withIds<Pick<Order, 'paymentId' | 'amountKopecks'>>({ paymentId: 'pay' })(row);
}

/** Whether there are live payments that the service will poll as soon as it runs. */
export const hasUnfinishedPayments = (db: Queryable) =>
  hasRow(db, { text: `SELECT FROM open_payments WHERE mode = 'live' LIMIT 1` });
