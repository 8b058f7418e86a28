import type { Alarms } from '../../alarms/index.ts';
import type { Clock } from '../../base/clock.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { Heartbeat } from '../../db/processes/index.ts';
import type { Sealer } from '../../db/secrets/index.ts';
import type { Gateway, OrderPage } from '../../gateway/index.ts';
import {
  claimWatch,
  closeIncarnation,
  firstListedAt,
  newestOf,
  recordListed,
  type WatchedIncarnation,
} from './incarnations.ts';
import { findUnrecorded } from './rebuild.ts';

/** The gateway may list an order so long after the creation time that it gives. */
const overlapMs = 15_000;
/** 100 000 orders. The next round goes on from there. */
const maxPages = 100;
/** A gateway that fails once or twice is nothing for people. */
const alarmAfterMs = 60_000;
const waits = 'history_watch_waits';

/**
 * Reads what is new in the list of the gateway, if it is time to. At an order that no payment here knows payments wait again,
 * and the recovery finds it. Returns whether it has closed the incarnation.
 */
export async function watchRound(deps: HistoryDeps, signal?: AbortSignal): Promise<boolean> {
  const { db, clock, heartbeat, alarms } = deps;
  const watched = await claimWatch(db, clock, heartbeat.instance);
  if (!watched) return false;
  const startedAt = new Date(clock.nowMs());
  const isLate = startedAt.getTime() - (watched.listedAt ?? watched.openedAt).getTime() > alarmAfterMs;
  const since = watched.listedTo ? new Date(watched.listedTo.getTime() - overlapMs) : firstListedAt(watched);
  let newestAt: Date | undefined;
  let cursor: string | undefined;
  for (let pages = 0; pages < maxPages; pages++) {
    signal?.throwIfAborted();
    const page = await readPage(deps, { since, cursor, isLate });
    if (!page) return false;
    // Asked after the page was read: a payment is committed before its order is sent.
    const foreign = await findUnrecorded(deps, page.orders);
    if (foreign.length > 0) return close(deps, watched, foreign.length);
    newestAt = newestOf(page.orders, newestAt);
    if (!(await claimWatch(db, clock, heartbeat.instance))) return false;
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined) break;
  }
  await recordListed(db, watched, { startedAt, newestAt, isComplete: cursor === undefined });
  if (isLate && cursor === undefined) await alarms.clear(waits, 'service');
  return false;
}

/** Undefined if the gateway gives no list; payments go on. */
const readPage = (
  { gateway, alarms }: HistoryDeps,
  { since, cursor, isLate }: { since: Date; cursor: string | undefined; isLate: boolean },
): Promise<OrderPage | undefined> =>
  gateway.listOrders(since, cursor).catch(async (error: Error) => {
    const detail = `The database may have lost commits, and late orders cannot be found without the list of the payment gateway: ${error.message}`;
    if (isLate) await alarms.raise({ kind: waits, subject: 'service', detail });
    return undefined;
  });

async function close(deps: HistoryDeps, { number }: WatchedIncarnation, count: number): Promise<boolean> {
  if (!(await closeIncarnation(deps.db, deps.clock, number))) return false;
  deps.log.warn({ incarnation: number, orders: count }, 'orders of another history: payments are paused');
  await raiseForeignOrders(deps, count);
  await deps.alarms.clear(waits, 'service');
  return true;
}

export const raiseForeignOrders = ({ alarms }: HistoryDeps, count: number) =>
  alarms.raise({
    kind: 'foreign_orders',
    subject: 'service',
    detail: `The payment gateway has orders that this database did not send (${count}). If another installation uses the same gateway, such as a copy of this one, stop one of the two. New payments are paused until no such order has appeared for 10 s.`,
  });

/** What recovery and watch of a history need. */
export interface HistoryDeps {
  db: Queryable;
  clock: Clock;
  gateway: Gateway;
  alarms: Alarms;
  references: Sealer;
  heartbeat: Pick<Heartbeat, 'instance'>;
  log: Record<'info' | 'warn' | 'error', (details: object, message: string) => void>;
}
