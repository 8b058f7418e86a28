import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { joinIncarnation } from '../../src/db/incarnation/join.ts';
import { listEvents } from '../../src/webhooks/delivery/feed.ts';
import { startShardsWorld } from './shards-world.ts';

const { pool, shards, clock, newPartner, newProcess, opening } = await startShardsWorld(3);

/** Pays, and returns the numbers that were given out. */
async function pay(shard: number, partnerId: Awaited<ReturnType<typeof newPartner>>) {
  const [writer, db] = [newProcess().writers[shard]!, shards[shard]!];
  const payment = opening(partnerId);
  expect(await writer.open(payment)).toMatchObject({ verdict: 'opened' });
  await writer.finish({ partnerId, mode: 'live', paymentId: payment.paymentId, outcome: 'succeeded' });
  const { rows } = await db.query<{ event: bigint; entry: bigint }>(
    `SELECT (SELECT max(id) FROM events WHERE payment_id = $2) AS event,
            (SELECT max(entry_no) FROM entries WHERE partner_id = $1 AND mode = 'live') AS entry`,
    [uuidFromId(partnerId), uuidFromId(payment.paymentId)],
  );
  return rows[0]!;
}

test('after a loss, numbers go on after a jump in every shard, within its range', async () => {
  await joinIncarnation({ pool, clock }, { place: undefined, isRestored: false });
  const partners = [await newPartner(0), await newPartner(1), await newPartner(2)];
  const before = [];
  for (const [shard, partnerId] of partners.entries()) before.push(await pay(shard, partnerId));

  await joinIncarnation({ pool, clock }, { place: undefined, isRestored: true });
  await pool.query('UPDATE incarnations SET opened_at = now() WHERE opened_at IS NULL');
  for (const [shard, partnerId] of partners.entries()) {
    const after = await pay(shard, partnerId);
    expect(after.event - before[shard]!.event).toBeGreaterThan(1_000_000n);
    expect(after.entry - before[shard]!.entry).toBeGreaterThan(1_000_000n);
    expect(after.event / 10n ** 15n).toBe(BigInt(shard));
    // A number that a lost history may have given out stands for its end.
    const account = { partnerId, mode: 'live' } as const;
    const page = await listEvents(shards[shard]!, account, { after: after.event - 1n, limit: 10 });
    expect(page?.events.map(({ eventId }) => eventId)).toEqual([after.event]);
    expect(await listEvents(shards[shard]!, account, { after: after.event + 1n, limit: 10 })).toBeUndefined();
  }
});
