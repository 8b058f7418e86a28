import { OperatorError } from '../base/operator-error.ts';
import type { Queryable } from '../db/pool.ts';
import { createHttpGateway } from '../gateway/index.ts';
import { findNewestOrder, hasUnfinishedPayments } from '../payments/index.ts';
import type { BankSide } from './simulator.ts';

/** Whether the payments of this database were made through another bank side than this. */
export async function hasForeignOrders({ url, token }: BankSide, db: Queryable): Promise<boolean> {
  const order = await findNewestOrder(db);
  if (!order) return false;
  const gateway = createHttpGateway({ url, token });
  const { outcome } = await gateway.poll(order).finally(() => gateway.close());
  return outcome === 'order_unknown' || outcome === 'unknown';
}

/**
 * The worker asks about every payment that is not finished. If they are at another bank, the simulator would say that it
 * has never heard of them, and their money would be given back while that bank pays.
 */
export async function refuseForeignOrders(bank: BankSide, db: Queryable): Promise<void> {
  if ((await hasUnfinishedPayments(db)) && (await hasForeignOrders(bank, db)))
    throw new OperatorError(
      'There are unfinished payments of another bank side, which the simulator knows nothing about: set GATEWAY_URL to that bank, or DATA_DIR to a new folder.',
    );
}
