import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { startHeartbeat } from '../../src/db/heartbeat.ts';
import { listLiveProcesses } from '../../src/db/live-processes.ts';
import { startShardWatch } from '../../src/runtime/shard-watch.ts';
import { createShard } from '../helpers/create-shard.ts';
import { createDatabase } from '../helpers/database.ts';

async function startProcess(pool: Awaited<ReturnType<typeof createDatabase>>['pool']) {
  const heartbeat = await startHeartbeat(pool);
  const left: string[] = [];
  const { instance } = heartbeat;
  const stop = startShardWatch({ pool, clock: systemClock, instance, leave: line => left.push(line) });
  const end = async () => {
    await stop();
    await heartbeat.close();
  };
  onTestFinished(end);
  return { left, end };
}

test('of several processes half leave for a new shard, and the others when as many run again', async () => {
  const { pool } = await createDatabase();
  const [one, other] = [await startProcess(pool), await startProcess(pool)];
  await createShard(pool, systemClock);
  await expect.poll(() => one.left).toContain('The database has 2 shards now.');
  await one.end();
  const connected = async () => (await listLiveProcesses(pool)).filter(({ isConnected }) => isConnected);
  await expect.poll(async () => (await connected()).length).toBe(1);
  expect(other.left).toEqual([]);
  await startProcess(pool);
  await expect.poll(() => other.left).toContain('The database has 2 shards now.');
});

test('a process alone leaves at once', async () => {
  const { pool } = await createDatabase();
  const alone = await startProcess(pool);
  await createShard(pool, systemClock);
  await expect.poll(() => alone.left.length).toBeGreaterThan(0);
});
