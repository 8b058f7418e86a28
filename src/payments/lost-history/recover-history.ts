import { startBackgroundLoop } from '../../base/background-loop.ts';
import { formatKopecks } from '../../base/money.ts';
import type { ListedOrder } from '../../gateway/index.ts';
import {
  claimRecovery,
  findLastFound,
  firstListedAt,
  newestOf,
  openIncarnation,
  type RecoveringIncarnation,
  recordCount,
  recordListed,
} from './incarnations.ts';
import { findForgotten, isReadable, type Rebuilt, rebuild } from './rebuild.ts';
import { isAnyCodeUnknown, listRetryable, markRebuilt, storeStray } from './stray-orders.ts';
import { type HistoryDeps, raiseForeignOrders, watchRound } from './watch-orders.ts';

/**
 * So long after the beginning an order may still arrive from a process that goes on with the lost history: it notices within
 * 10 s, and sends an order at most 10 s after its debit.
 */
const lateOrdersMs = 20_000;
/** And as long as new orders appear more often than this, another installation is sending them. */
const noNewOrdersMs = 10_000;
const roundPauseMs = 1_000;
const retryPauseMs = 5_000;

/** Recovers a history in rounds until it may open, then watches for late orders and tries again what could not be rebuilt. */
export const startHistoryRecovery = (deps: HistoryDeps) =>
  startBackgroundLoop({
    clock: deps.clock,
    everyMs: retryPauseMs,
    work: signal => recoverRound(deps, signal),
    onError: err => deps.log.error({ err }, 'the recovery of the history failed'),
  });

/** One round; returns the pause before the next one. */
export async function recoverRound(deps: HistoryDeps, signal?: AbortSignal): Promise<number | undefined> {
  await retryStray(deps);
  const incarnation = await claimRecovery(deps.db, deps.clock, deps.heartbeat.instance);
  if (!incarnation) return (await watchRound(deps, signal)) ? 0 : undefined;
  const startedMs = deps.clock.nowMs();
  // First: what was paid from a balance needs it.
  const found = await rebuildForgotten(deps, incarnation, signal);
  if (found === undefined) return undefined;

  const quietFromMs = incarnation.beganAt.getTime() + (incarnation.isSynchronous ? 0 : lateOrdersMs);
  const isUnexpected = incarnation.closedAt !== null || startedMs >= quietFromMs + lateOrdersMs;
  if (found > 0 && isUnexpected) await raiseForeignOrders(deps, found);
  if (found > 0) return 0;
  const lastFoundMs = (await findLastFound(deps.db, incarnation))?.getTime() ?? Number.NEGATIVE_INFINITY;
  const opensFromMs = Math.max(quietFromMs, lastFoundMs + noNewOrdersMs);
  if (startedMs < opensFromMs) return Math.min(roundPauseMs, opensFromMs - startedMs);
  if (await isAnyCodeUnknown(deps.db)) return undefined;
  if (!(await openIncarnation(deps.db, deps.clock, deps.heartbeat.instance))) return undefined;
  const { number, cause } = incarnation;
  deps.log.info(
    { incarnation: number, cause },
    'the database matches the payment gateway: payments are accepted',
  );
  for (const kind of ['foreign_orders', waits]) await deps.alarms.clear(kind, 'service');
  return undefined;
}

const waits = 'history_recovery_waits';

async function raiseWaiting({ alarms }: HistoryDeps, error: Error): Promise<never> {
  const detail = `New payments are paused until the payment gateway lists the orders that this database may have lost: ${error.message}`;
  await alarms.raise({ kind: waits, subject: 'service', detail });
  throw error;
}

/** Reads the whole list. Returns how many orders were new to us; undefined if another process has taken over. */
async function rebuildForgotten(
  deps: HistoryDeps,
  incarnation: RecoveringIncarnation,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const { db, clock, gateway, heartbeat } = deps;
  const startedAt = new Date(clock.nowMs());
  const since = firstListedAt(incarnation);
  const seenCursors = new Set<string>();
  let cursor: string | undefined;
  let newestAt: Date | undefined;
  let found = 0;
  let listed = 0;
  do {
    signal?.throwIfAborted();
    const page = await gateway.listOrders(since, cursor).catch(error => raiseWaiting(deps, error));
    const forgotten = await findForgotten(db, page.orders);
    if (forgotten.length > 0) found += await settle(deps, incarnation.number, forgotten);
    newestAt = newestOf(page.orders, newestAt);
    listed += page.orders.length;
    if (!(await claimRecovery(db, clock, heartbeat.instance))) return undefined;
    cursor = page.nextCursor ?? undefined;
    if (cursor !== undefined && seenCursors.has(cursor))
      await raiseWaiting(deps, new Error('the list of orders has no end: the gateway must fix its cursors'));
    if (cursor !== undefined) seenCursors.add(cursor);
  } while (cursor !== undefined);
  await recordCount(db, incarnation, listed);
  await recordListed(db, incarnation, { startedAt, newestAt, isComplete: true });
  return found;
}

/** Rebuilds these orders or sets them aside. Returns how many were not known before. */
async function settle(deps: HistoryDeps, incarnation: number, orders: ListedOrder[]): Promise<number> {
  let found = 0;
  for (const rebuilt of await rebuild(deps, incarnation, orders)) {
    const { order, verdict } = rebuilt;
    const isRebuilt = verdict === 'recovered';
    if (isRebuilt) deps.log.warn({ paymentId: order.paymentId, incarnation }, 'a lost payment was rebuilt');
    // Known is also one that was rebuilt by a process that died before it could say so.
    if (isRebuilt || verdict === 'known') {
      await markRebuilt(deps.db, deps.clock, order.paymentId);
      await deps.alarms.clear('stray_order', order.paymentId);
      if (isRebuilt) found += 1;
    } else if (await setAside(deps, incarnation, rebuilt)) found += 1;
  }
  return found;
}

async function setAside(deps: HistoryDeps, incarnation: number, rebuilt: Rebuilt): Promise<boolean> {
  const { order, verdict } = rebuilt;
  const isNew = await storeStray(deps.db, deps.clock, incarnation, rebuilt);
  await deps.alarms.raise({ kind: 'stray_order', subject: order.paymentId, detail: describeStray(rebuilt) });
  if (isNew) deps.log.warn({ paymentId: order.paymentId, verdict }, 'a lost payment cannot be rebuilt');
  return isNew;
}

const advice = {
  unreadable:
    'Its reference cannot be read. If SECRET_KEY was replaced, add the key of that time to SECRET_KEY_PREVIOUS and restart: then the payment is restored. Otherwise find out whose it is, then release it.',
  no_account: 'Its partner is not in this database. Create the partner again, or release the order.',
  key_taken: 'Its idempotency key belongs to another payment. Find out which one is right, then release it.',
  qr_in_flight:
    'An earlier payment of the same QR code is not completed. The payment is restored when that one is.',
  insufficient_balance:
    'The balance is too low. Credit the lost top-ups again; then the payment is restored.',
} as const;

const describeStray = ({ order, verdict }: Rebuilt) =>
  `The payment gateway has an order for ${formatKopecks(order.amountKopecks)} RUB (${order.state}) without a payment here. ${advice[verdict as keyof typeof advice]}`;

/** Those whose balance, code or secret key was missing may be possible by now. */
async function retryStray(deps: HistoryDeps): Promise<void> {
  const retryable = await listRetryable(deps.db);
  const stray = retryable.filter(order => order.why !== 'unreadable' || isReadable(order, deps.references));
  for (const [incarnation, orders] of Map.groupBy(stray, order => order.incarnation))
    await settle(deps, incarnation, orders);
}
