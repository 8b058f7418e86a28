import { createHash, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { createCodeGuard } from '../../src/payments/shards/code-guard.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { startShardsWorld } from './shards-world.ts';

const { shards, clock, newPartner, opening } = await startShardsWorld(2);

/** A code whose reservation has its place in this shard. */
function codeAt(place: number): string {
  for (;;) {
    const code = randomUUID();
    if (createHash('sha256').update(code).digest().readUInt32BE(0) % shards.length === place) return code;
  }
}

test('a shard that does not answer holds up the payments whose codes have their place there, and no others', async () => {
  const partnerId = await newPartner(0);
  const unreachable = openPool({ host: '127.0.0.1', port: 1 });
  const guard = createCodeGuard(shards, clock, [shards[0]!, unreachable]);
  const writer = createPaymentWriter(shards[0]!, clock, {}, {}, guard);
  // All at once: they would share a batch.
  const results = await Promise.allSettled(
    [0, 1, 0, 1, 0].map(place => writer.open(opening(partnerId, { qrcId: codeAt(place) }))),
  );
  expect(results.map(result => (result.status === 'fulfilled' ? result.value.verdict : 'failed'))).toEqual([
    'opened',
    'failed',
    'opened',
    'failed',
    'opened',
  ]);
  await unreachable.end();
});

test('once it is known that a shard hangs, no payment waits for it to reserve or free a code', async () => {
  const hanging = { query: () => new Promise(() => {}) } as unknown as Pool;
  const whyNot = (shard: number) => (shard === 1 ? 'it does not answer' : undefined);
  const guard = createCodeGuard(shards, clock, [shards[0]!, hanging], whyNot);
  const partnerId = await newPartner(0);
  const there = opening(partnerId, { qrcId: codeAt(1) });
  await expect(guard.reserve(there)).rejects.toThrow('shard 1 cannot be used: it does not answer');
  await expect(guard.free(there)).rejects.toThrow('shard 1 cannot be used: it does not answer');
  expect(await guard.reserve(opening(partnerId, { qrcId: codeAt(0) }))).toBe(true);
});

test('the sweeper frees the codes of other shards while one does not answer', async () => {
  const partnerId = await newPartner(1);
  const unreachable = openPool({ host: '127.0.0.1', port: 1 });
  const payment = opening(partnerId, { qrcId: codeAt(1) });
  await createCodeGuard(shards, clock).reserve(payment);
  clock.advance(180_000);
  await expect(createCodeGuard([unreachable, shards[1]!], clock).sweep()).rejects.toThrow(/ECONNREFUSED/);
  const { rows } = await shards[1]!.query('SELECT FROM code_reservations WHERE qrc_id = $1', [payment.qrcId]);
  expect(rows).toEqual([]);
  await unreachable.end();
});
