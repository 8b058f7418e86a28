import { type BackgroundLoopOptions, startBackgroundLoop } from '../../base/background-loop.ts';
import type { Clock } from '../../base/clock.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import { findDeadHolders, type Heartbeat, pauseUntilDue } from '../../db/processes/index.ts';
import { acquireLeases, releaseLeases, renewLeases } from './leases.ts';
import type { DeliverySlots } from './slots.ts';

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
    const { endpoints, firstDueMs } = await acquireLeases(db, clock, {
      instance,
      deadHolders,
      leaseMs,
      limit: batchSize,
    });
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
    const held = await renewLeases(db, clock, { instance, leaseMs });
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
