import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId, uuidFromId } from '../../src/base/ids.ts';
import { openPool, transaction } from '../../src/db/pool.ts';
import { enterShardOf, sessionOfAll } from '../../src/db/shards/sessions.ts';
import { findEventRange } from '../../src/webhooks/admin/event-range.ts';
import { createShard } from '../helpers/create-shard.ts';
import { createDatabase, createFundedPartner } from '../helpers/database.ts';

const { pool: first } = await createDatabase();
await createShard(first, systemClock);
const pool = openPool({ ...first.options, session: sessionOfAll(2) });

test('the ids of another shard say nothing about when events of ours happened', async () => {
  const [ours, others] = [await createFundedPartner(pool, 0n), await createFundedPartner(pool, 0n)];
  const { rows } = await pool.query('SELECT shard FROM partners ORDER BY id');
  expect(rows).toEqual([{ shard: 0 }, { shard: 1 }]);
  const dayMs = 86_400_000;
  const nowMs = systemClock.nowMs();
  const oldId = newId('pay', { ...systemClock, nowMs: () => nowMs - 40 * dayMs });
  await transaction(pool, async tx => {
    await enterShardOf(tx, uuidFromId(others));
    await tx.query({
      text: "INSERT INTO events (partner_id, mode, payment_id, at) VALUES ($1, 'live', $2, $3)",
      values: [uuidFromId(others), uuidFromId(oldId), new Date(nowMs - 40 * dayMs)],
    });
  });
  const period = { from: new Date(nowMs - 31 * dayMs), before: undefined };
  for (const filter of [{}, { partnerId: ours }, { partnerId: ours, mode: 'live' as const }])
    expect(await findEventRange(pool, filter, period)).toMatchObject({ beyond: 0n });
  await pool.end();
});
