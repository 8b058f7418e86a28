import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { hasRow, type Pool, type Queryable, readValue, transaction } from '../../db/postgres/index.ts';
import { addToTestClock, advancedSql, advanceOpenPayments, scenarioOf } from '../../payments/index.ts';
import type { DueDelivery } from './due.ts';
import type { DeliveryKey } from './slots.ts';

/** Moves everything that waits for this partner in test mode. Returns by how much its clock was moved in total. */
export function moveTestClock(
  pool: Pool,
  clock: Clock,
  partnerId: Id<'prt'>,
  advanceSec: number,
): Promise<number> {
  return transaction(pool, async tx => {
    const sumSec = await addToTestClock(tx, partnerId, advanceSec);
    await advanceOpenPayments(tx, clock, partnerId, advanceSec);
    await advanceDeliveries(tx, clock, partnerId, advanceSec);
    return sumSec;
  });
}

/** A locked row is skipped: its attempt is just being recorded, and its pause begins with that. */
const advanceDeliveries = (tx: Queryable, clock: Clock, partnerId: Id<'prt'>, advanceSec: number) =>
  tx.query({
    text: `UPDATE deliveries d SET next_at = ${advancedSql('d.next_at', '$2', '$3')}
             FROM (SELECT o.endpoint_id, o.event_id FROM endpoints w JOIN deliveries o USING (endpoint_id)
                    WHERE w.partner_id = $1 AND o.mode = 'test' AND o.failed_at IS NULL AND o.next_at > $3
                      FOR UPDATE OF o SKIP LOCKED) AS waiting
            WHERE d.endpoint_id = waiting.endpoint_id AND d.event_id = waiting.event_id`,
    values: [uuidFromId(partnerId), advanceSec, instantOf(clock)],
  });

const holdMs = 30_000;

/**
 * Scenario `webhooks_out_of_order`: true when the event is held back from now on. Only once, and not while another event
 * is held back, since that one waits for this one to go first.
 */
export async function holdBack(db: Queryable, clock: Clock, due: DueDelivery): Promise<boolean> {
  const { event, endpointId, attempts } = due;
  if (scenarioOf(event.payment) !== 'webhooks_out_of_order' || attempts > 0) return false;
  return hasRow(db, {
    text: `UPDATE deliveries d SET held_at = $3, next_at = $4
            WHERE d.endpoint_id = $1 AND d.event_id = $2 AND d.mode = 'test' AND d.attempts = 0 AND d.held_at IS NULL
              AND NOT EXISTS (SELECT FROM deliveries o WHERE o.endpoint_id = $1 AND o.mode = 'test'
                                 AND o.held_at IS NOT NULL AND o.attempts = 0 AND o.next_at > $3)`,
    values: [uuidFromId(endpointId), event.eventId, instantOf(clock), new Date(clock.nowMs() + holdMs)],
  });
}

/** A later event was sent: the one held back for it is due. */
export async function releaseHeld(db: Queryable, clock: Clock, sent: DeliveryKey[]): Promise<void> {
  await db.query({
    name: 'release held deliveries',
    text: `UPDATE deliveries d SET next_at = $3
             FROM unnest($1::uuid[], $2::bigint[]) AS s (endpoint_id, event_id)
            WHERE d.endpoint_id = s.endpoint_id AND d.event_id < s.event_id
              AND d.held_at IS NOT NULL AND d.attempts = 0 AND d.next_at > $3`,
    values: [
      sent.map(({ endpointId }) => uuidFromId(endpointId)),
      sent.map(({ eventId }) => eventId),
      instantOf(clock),
    ],
  });
}

/** Scenario `webhook_twice`: true for the first successful delivery of an event, which is sent once more. */
export async function mustSendTwice(
  db: Queryable,
  { partnerId, endpointId, event }: DueDelivery,
): Promise<boolean> {
  if (scenarioOf(event.payment) !== 'webhook_twice') return false;
  const wasDelivered = await readValue<boolean>(db, {
    text: `SELECT EXISTS (SELECT FROM webhook_attempts WHERE event_id = $2 AND partner_id = $1
                             AND endpoint_id = $3 AND status BETWEEN 200 AND 299) AS was_delivered`,
    values: [uuidFromId(partnerId), event.eventId, uuidFromId(endpointId)],
  });
  return !wasDelivered;
}
