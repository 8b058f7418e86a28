import { OperatorError } from '../base/operator-error.ts';
import type { PoolAndClock } from '../db/index.ts';
import { createHttpGateway } from '../gateway/index.ts';
import { findNewestOrder, hasUnfinishedPayments } from '../payments/index.ts';
import type { BankSide } from './simulator.ts';

/** Whether the payments of this database were sent to another gateway. */
export async function hasForeignOrders(
  { url, token }: BankSide,
  { pool, clock }: PoolAndClock,
): Promise<boolean> {
  const order = await findNewestOrder(pool);
  if (!order) return false;
  const gateway = createHttpGateway({ url, token, clock });
  const { outcome } = await gateway.poll(order).finally(() => gateway.close());
  return outcome === 'order_unknown' || outcome === 'unknown';
}

/**
 * The worker polls every unfinished payment. If their orders are at another gateway, the simulator would answer that it
 * has no such order, and their money would be released while the other gateway pays.
 */
export async function refuseForeignOrders(bank: BankSide, database: PoolAndClock): Promise<void> {
  if ((await hasUnfinishedPayments(database.pool)) && (await hasForeignOrders(bank, database)))
    throw new OperatorError(
      'There are unfinished payments of another payment gateway, which the simulator does not have: set GATEWAY_URL to that gateway, or DATA_DIR to a new folder.',
    );
}
