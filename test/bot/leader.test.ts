import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { runAsLeader } from '../../src/bot/leader.ts';
import type { Pool } from '../../src/db/pool.ts';
import { createDatabase } from '../helpers/database.ts';
import { openThroughSilentProxy } from '../helpers/silent-proxy.ts';

const { pool } = await createDatabase();
const timeline: string[] = [];
const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map(stop => stop())));

function startCandidate(name: string, through: Pool, silentForMs?: number) {
  const deps = {
    pool: through,
    clock: systemClock,
    onError: () => {},
    ...(silentForMs ? { silentForMs } : {}),
  };
  const stop = runAsLeader(deps, async signal => {
    timeline.push(`${name} leads`);
    if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve));
    timeline.push(`${name} has stopped`);
  });
  stops.push(stop);
}

// In real time: the server decides by its own clock how long a session has been silent.
test('a leader whose connection is cut without a packet is replaced within 15 s, after it has stopped', async () => {
  const cut = await openThroughSilentProxy(pool);
  startCandidate('first', cut.pool);
  await expect.poll(() => timeline, { timeout: 5_000 }).toEqual(['first leads']);
  startCandidate('second', pool);
  cut.fallSilent();
  await expect.poll(() => timeline.includes('second leads'), { timeout: 15_000 }).toBe(true);
  expect(timeline).toEqual(['first leads', 'first has stopped', 'second leads']);
}, 30_000);

test('a leader that answers is not replaced', async () => {
  await Promise.all(stops.splice(0).map(stop => stop()));
  timeline.splice(0);
  startCandidate('third', pool, 1_500);
  await expect.poll(() => timeline, { timeout: 5_000 }).toEqual(['third leads']);
  startCandidate('fourth', pool, 1_500);
  await pool.query('SELECT pg_sleep(5)');
  expect(timeline).toEqual(['third leads']);
}, 20_000);
