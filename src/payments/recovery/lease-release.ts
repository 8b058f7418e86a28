import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';

export interface LeaseRelease {
  /** This process is no longer busy with the payment, if there is one: whoever is free looks at it. */
  releaseLease(paymentId: Id<'pay'>): void;
  stop(): Promise<void>;
}

const tellEveryMs = 1_000;
/** By then the time of whatever this process opened or claimed has come. */
const forgetAfterMs = 60_000;

/**
 * When the database fails while a payment is under way, the row that says who is busy with it cannot be changed
 * either, and as long as this process lives, nobody else would look before the request's time is over. So it is said
 * as soon as the database can hear it. A row that is not there may yet come: a server that was frozen carries out
 * what it was sent before. It is asked for until its time has come by itself.
 */
export function createLeaseRelease(db: Queryable, clock: Clock, leaseHolder: number): LeaseRelease {
  const givenUp = new Map<Id<'pay'>, number>();
  const stop = new AbortController();
  let telling = false;

  async function retryRelease(): Promise<void> {
    telling = true;
    while (givenUp.size > 0 && !stop.signal.aborted) {
      const heard = await release([...givenUp.keys()]).catch(() => []);
      for (const paymentId of heard) givenUp.delete(paymentId);
      for (const [paymentId, untilMs] of givenUp) if (clock.nowMs() > untilMs) givenUp.delete(paymentId);
      if (givenUp.size > 0) await clock.sleep(tellEveryMs, stop.signal);
    }
    telling = false;
  }

  async function release(paymentIds: Id<'pay'>[]): Promise<Id<'pay'>[]> {
    const { rows } = await db.query<{ payment_id: string }>({
      name: 'hand over',
      text: `UPDATE open_payments SET lease_holder = NULL, next_at = $1
              WHERE lease_holder = $2 AND payment_id = ANY ($3) RETURNING payment_id`,
      values: [instantOf(clock), leaseHolder, paymentIds.map(uuidFromId)],
    });
    return rows.map(row => idFromUuid('pay', row.payment_id));
  }

  return {
    releaseLease: paymentId => {
      givenUp.set(paymentId, clock.nowMs() + forgetAfterMs);
      if (!telling) void retryRelease();
    },
    stop: async () => stop.abort(),
  };
}
