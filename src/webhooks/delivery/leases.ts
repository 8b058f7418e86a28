import { type BackgroundLoopOptions, startBackgroundLoop } from '../../base/background-loop.ts';
import type { Clock } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { type Queryable, readRows } from '../../db/postgres/index.ts';
import { findDeadHolders, type Heartbeat, pauseUntilDue } from '../../db/processes/index.ts';
import type { DeliverySlots } from './slots.ts';

/**
 * An endpoint's deliveries are sent by the one process that holds its lease. A holder that hangs loses the lease when it
 * expires; that of a dead holder can be taken at once.
 */

/**
 * Takes leases of endpoints with something due that no other process holds, or whose holder is dead. It takes half of
 * them at a time, so that processes that ask at the same moment get their share.
 */
async function acquireLeases(
  db: Queryable,
  clock: Clock,
  instance: number,
  /** Holders known to be dead. */
  deadHolders: number[],
) {
  const nowMs = clock.nowMs();
  const { rows } = await db.query<{ endpoint: string | null; first_due: Date | null }>({
    name: 'acquire webhook leases',
    // Steps from one endpoint with deliveries to the next along the index: endpoints without any cost nothing.
    text: `WITH RECURSIVE waiting AS (
             (SELECT endpoint_id FROM deliveries WHERE failed_at IS NULL ORDER BY endpoint_id LIMIT 1)
             UNION ALL
             SELECT (SELECT d.endpoint_id FROM deliveries d WHERE d.failed_at IS NULL AND d.endpoint_id > w.endpoint_id
                      ORDER BY d.endpoint_id LIMIT 1)
               FROM waiting w WHERE w.endpoint_id IS NOT NULL),
           due AS (
             SELECT c.endpoint_id FROM waiting JOIN endpoints c USING (endpoint_id)
              WHERE c.suspended_at IS NULL
                AND (c.lease_holder IS NULL OR c.leased_until <= $2 OR c.lease_holder = ANY ($4::int[]))
                AND EXISTS (SELECT FROM deliveries d WHERE d.endpoint_id = c.endpoint_id
                               AND d.failed_at IS NULL AND d.next_at <= $2)),
           acquired AS (
           UPDATE endpoints w SET lease_holder = $1, leased_until = $3
             FROM (SELECT c.endpoint_id FROM due JOIN endpoints c USING (endpoint_id)
                    WHERE c.suspended_at IS NULL
                      AND (c.lease_holder IS NULL OR c.leased_until <= $2 OR c.lease_holder = ANY ($4::int[]))
                    LIMIT (SELECT least($5, ceil(count(*) / 2.0)) FROM due) FOR UPDATE OF c SKIP LOCKED) AS free
            WHERE w.endpoint_id = free.endpoint_id RETURNING w.endpoint_id AS endpoint),
           first AS (
             SELECT min(nullif(d.next_at, 'infinity')) AS first_due FROM waiting JOIN endpoints c USING (endpoint_id)
              CROSS JOIN LATERAL (SELECT next_at FROM deliveries d WHERE d.endpoint_id = c.endpoint_id AND d.failed_at IS NULL
                                   ORDER BY d.next_at LIMIT 1) AS d
              WHERE c.suspended_at IS NULL)
           SELECT endpoint, first_due FROM first LEFT JOIN acquired ON true`,
    values: [instance, new Date(nowMs), new Date(nowMs + leaseMs), deadHolders, batchSize],
  });
  return {
    endpoints: rows.flatMap(({ endpoint }) => (endpoint === null ? [] : idFromUuid('whe', endpoint))),
    /** When the first delivery of any endpoint is or was due; undefined if there is none. */
    firstDueMs: rows[0]!.first_due?.getTime(),
  };
}

/** Locked in the order of the key, as `deliveries_end` does, so that the two cannot deadlock. */
const ownInOrder = (which: string) =>
  `(SELECT endpoint_id FROM endpoints WHERE ${which} ORDER BY endpoint_id FOR UPDATE) AS o WHERE o.endpoint_id = w.endpoint_id`;

/** Extends the leases that this process still holds, and returns their endpoints. */
async function renewLeases(db: Queryable, clock: Clock, instance: number): Promise<Set<Id<'whe'>>> {
  const rows = await readRows<{ endpoint: string }>(db, {
    name: 'renew webhook leases',
    text: `UPDATE endpoints w SET leased_until = $2 FROM ${ownInOrder('lease_holder = $1')}
           RETURNING w.endpoint_id AS endpoint`,
    values: [instance, new Date(clock.nowMs() + leaseMs)],
  });
  return new Set(rows.map(({ endpoint }) => idFromUuid('whe', endpoint)));
}

async function releaseLeases(db: Queryable, instance: number, endpoints: Id<'whe'>[]): Promise<void> {
  await db.query({
    name: 'release webhook leases',
    text: `UPDATE endpoints w SET lease_holder = NULL, leased_until = NULL
             FROM ${ownInOrder('lease_holder = $1 AND endpoint_id = ANY ($2)')}`,
    values: [instance, endpoints.map(uuidFromId)],
  });
}

export interface LeaseKeeperDeps {
  db: Queryable;
  clock: Clock;
  heartbeat: Pick<Heartbeat, 'instance' | 'findDead'>;
  log: { error(details: object, message: string): void };
}

/** A process that hangs loses its leases after this long; one that dies, at once. */
const leaseMs = 30_000;
/** How often each loop runs. */
export const leaseLoopsMs = {
  renew: 10_000,
  findDead: 1_500,
  /** While a delivery is due. */
  due: 200,
  /** While deliveries wait; one that gets due earlier is acquired then. */
  waiting: 1_000,
  /** Without any delivery: the process that ends a payment is woken, and so are the other processes of its node. */
  idle: 4_000,
};
/** After an error of the database the next try comes long before a lease expires. */
const afterErrorMs = 1_000;
/** An endpoint without deliveries for this long is released, so that any process may take its next one. */
const idleMs = 5_000;
const batchSize = 200;

/**
 * Acquires, renews and releases the leases of endpoints, each loop at its own pace so that none waits for another. The
 * endpoints it holds are those in `slots`.
 */
export function startLeaseKeeper(
  { db, clock, heartbeat, log }: LeaseKeeperDeps,
  slots: DeliverySlots,
  onAcquired: () => void,
) {
  const { instance } = heartbeat;
  let deadHolders: number[] = [];
  /** False while no delivery waits: then nobody's lease matters. */
  let hasWaiting = true;
  let acquiredMs = Number.NEGATIVE_INFINITY;
  let cancelWake: (() => void) | undefined;

  async function lookForDead(): Promise<number | undefined> {
    deadHolders = [];
    if (!hasWaiting) return leaseLoopsMs.idle;
    deadHolders = await findDeadHolders(db, heartbeat, 'endpoints');
    return undefined;
  }

  async function acquire(): Promise<number> {
    acquiredMs = clock.monotonicMs();
    cancelWake?.();
    cancelWake = undefined;
    const { endpoints, firstDueMs } = await acquireLeases(db, clock, instance, deadHolders);
    for (const endpointId of endpoints) slots.add(endpointId);
    if (endpoints.length > 0) onAcquired();
    const isFirst = !hasWaiting && firstDueMs !== undefined;
    hasWaiting = firstDueMs !== undefined;
    if (isFirst) findingDead.runNow();
    return pauseUntilDue(clock.nowMs(), firstDueMs, leaseLoopsMs);
  }

  /** The database decides what this process holds: a change whose answer was lost must not leave an endpoint unserved. */
  async function renew(): Promise<void> {
    const idle = slots.idle(idleMs);
    // Removed first, so that nothing begins for them meanwhile.
    for (const endpointId of idle) slots.remove(endpointId);
    if (idle.length > 0) await releaseLeases(db, instance, idle);
    const served = slots.endpoints();
    const held = await renewLeases(db, clock, instance);
    for (const endpointId of served) if (!held.has(endpointId)) slots.remove(endpointId);
    for (const endpointId of held) slots.add(endpointId);
    if (held.size > 0) onAcquired();
  }

  const start = (everyMs: number, work: BackgroundLoopOptions['work']) =>
    startBackgroundLoop({
      clock,
      everyMs,
      afterErrorMs: Math.min(everyMs, afterErrorMs),
      work,
      onError: err => log.error({ err }, 'webhook leases could not be acquired or renewed'),
    });
  const acquiring = start(leaseLoopsMs.due, acquire);
  const findingDead = start(leaseLoopsMs.findDead, lookForDead);
  const loops = [findingDead, acquiring, start(leaseLoopsMs.renew, renew)];
  return {
    // There may be new deliveries. However many payments finish: it asks no more often than while there are deliveries.
    wake: () => {
      const sinceMs = clock.monotonicMs() - acquiredMs;
      cancelWake ??= clock.timer(Math.max(0, leaseLoopsMs.due - sinceMs), acquiring.runNow);
    },
    /** Acquires and renews no more; what is held stays held until it is released. */
    stop: async () => {
      cancelWake?.();
      await Promise.all(loops.map(loop => loop.stop()));
    },
    releaseAll: () => releaseLeases(db, instance, slots.endpoints()),
  };
}
