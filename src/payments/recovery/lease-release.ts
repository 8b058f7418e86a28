import { type BackgroundLoop, startBackgroundLoop } from '../../base/background-loop.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';

const retryIntervalMs = 1_000;
/** By then every lease that this process took has expired. */
const expireAfterMs = 60_000;

export type LeaseRelease = ReturnType<typeof createLeaseRelease>;

/**
 * Releases leases while the database may be failing. If it fails while a payment is under way, the payment's row keeps
 * this process as its lease holder, and no other process would poll it until the lease expires. So the release is retried
 * until the database has done it. A missing row may still appear, since a server that was frozen executes later what it
 * received before: it is retried until the lease has expired.
 */
export function createLeaseRelease(db: Queryable, clock: Clock, leaseHolder: number) {
  const pending = new Map<Id<'pay'>, { untilMs: number }>();
  let retrying: BackgroundLoop | undefined;
  let isStopped = false;

  async function retryRelease(): Promise<void> {
    const released = await release([...pending.keys()]).catch(() => []);
    for (const paymentId of released) pending.delete(paymentId);
    for (const [paymentId, { untilMs }] of pending)
      if (clock.monotonicMs() > untilMs) pending.delete(paymentId);
    if (pending.size > 0) return;
    void retrying?.stop();
    retrying = undefined;
  }

  async function release(paymentIds: Id<'pay'>[]): Promise<Id<'pay'>[]> {
    const { rows } = await db.query<{ payment_id: string }>({
      name: 'release leases',
      text: `UPDATE open_payments SET lease_holder = NULL, next_at = $1
              WHERE lease_holder = $2 AND payment_id = ANY ($3) RETURNING payment_id`,
      values: [instantOf(clock), leaseHolder, paymentIds.map(uuidFromId)],
    });
    return rows.map(row => idFromUuid('pay', row.payment_id));
  }

  return {
    /** This process no longer works on the payment, if it exists: any process may poll it. */
    releaseLease: (paymentId: Id<'pay'>): void => {
      pending.set(paymentId, { untilMs: clock.monotonicMs() + expireAfterMs });
      if (isStopped) return;
      retrying ??= startBackgroundLoop({
        clock,
        everyMs: retryIntervalMs,
        work: retryRelease,
        // A failed release is tried again: nothing to report.
        onError: () => {},
      });
    },
    stop: async () => {
      isStopped = true;
      await retrying?.stop();
    },
  };
}
