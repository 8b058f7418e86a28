import { idFromUuid, uuidFromId } from '../../src/base/ids.ts';
import type { Round } from '../faults/round.ts';
import { until } from '../faults/wait.ts';
import type { Partner } from '../faults/world.ts';

/** What a partner has seen of its events. */
export interface EventsOf {
  partner: Partner;
  /** The payment of each event, by the number of the event. */
  seen: Map<number, string>;
}

const catchUpWithinMs = 60_000;

export const numberOf = (eventId: string) => Number(eventId.slice('evt_'.length));

/** At the end of a round: the partner sees every event that is on record, and saw no id with two payments. */
export async function checkSeen(round: Round, by: string, { partner, seen }: EventsOf): Promise<void> {
  const recorded = await recordedEvents(round, partner);
  const hasAll = () => [...recorded.keys()].every(id => seen.has(id));
  await until(`the ${by} has every event`, catchUpWithinMs, hasAll).catch(() => {});
  for (const [id, payment] of recorded) {
    const seenPayment = seen.get(id);
    if (seenPayment === undefined) round.findings.push(`${partner.partnerId} never saw evt_${id} by ${by}`);
    else if (seenPayment !== payment)
      round.findings.push(`evt_${id} was about ${seenPayment} by ${by} and is about ${payment}`);
  }
  const answered = new Set(recorded.values());
  const forgotten = [...new Set(seen.values())].filter(payment => !answered.has(payment));
  if (forgotten.length > 0)
    round.findings.push(`events of payments without one now were seen by ${by}: ${forgotten.join(', ')}`);
}

async function recordedEvents({ world }: Round, { partnerId }: Partner): Promise<Map<number, string>> {
  const { rows } = await world.pool.query<{ id: bigint; payment_id: string }>(
    "SELECT id, payment_id FROM events WHERE partner_id = $1 AND mode = 'live'",
    [uuidFromId(partnerId)],
  );
  return new Map(rows.map(row => [Number(row.id), idFromUuid('pay', row.payment_id)]));
}
