import { expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { transaction } from '../../src/db/pool.ts';
import { type AttemptResult, recordAttempts } from '../../src/webhooks/delivery/recorder.ts';
import { firstEndpointOf, firstEndpoints, furtherEndpoints } from '../../src/webhooks/endpoint-tables.ts';
import { pausesSec } from './delivery-world.ts';
import { startEndpointWorld } from './endpoint-world.ts';

const world = await startEndpointWorld();
const { clock, pool, newPartner, add, noticesOf } = world;

const firstOf = async (partnerId: Id<'prt'>) => firstEndpointOf(partnerId);
const furtherOf = async (partnerId: Id<'prt'>) => (await add(partnerId)).endpointId;

test.each([
  { what: 'the first endpoint', tables: firstEndpoints, endpointOf: firstOf },
  { what: 'a further endpoint', tables: furtherEndpoints, endpointOf: furtherOf },
])('a late result of an earlier attempt at $what changes nothing', async ({ tables, endpointOf }) => {
  // The attempts here are made by nobody: what two processes record of them is all that counts.
  await world.stopDelivery();
  const { partnerId, pay } = await newPartner();
  const endpointId = await endpointOf(partnerId);
  await pay();
  const delivery = async () => {
    const { rows } = await transaction(pool, tx =>
      tx.query<{ event_id: bigint; attempts: number; next_at: Date; failed_at: Date | null }>({
        text: `SELECT event_id, attempts, next_at, failed_at FROM ${tables.deliveries} WHERE ${tables.key} = $1`,
        values: [uuidFromId(endpointId)],
      }),
    );
    return rows[0]!;
  };
  const { event_id: eventId } = await delivery();
  const record = (attempt: number, changes: Partial<AttemptResult> = {}) => {
    const at = new Date(clock.nowMs());
    const nextAt = new Date(clock.nowMs() + pausesSec[attempt]! * 1_000);
    const result = {
      ...{ partnerId, endpointId, eventId, attempt, at, nextAt, isDelivered: false, hasHung: false },
      ...{ status: 500, error: null, durationMs: 1, ...changes },
    };
    return transaction(pool, tx => recordAttempts(tx, tables, [result], 'suspended'));
  };

  await record(1);
  clock.advance(10_000);
  await record(2);
  const expected = await delivery();
  expect(expected).toMatchObject({ attempts: 2, failed_at: null });
  // From a process that hung: the attempt that was made again, the one before, and the last one of an earlier schedule.
  await record(2, { nextAt: new Date(clock.nowMs()) });
  await record(1);
  await record(pausesSec.length, { nextAt: null });
  expect(await delivery()).toEqual(expected);
  expect(await noticesOf(partnerId)).toEqual([]);
});
