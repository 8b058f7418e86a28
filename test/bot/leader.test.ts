import { afterAll, describe, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { runAsLeader } from '../../src/bot/leader.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { createDatabase } from '../helpers/database.ts';
import { openThroughSilentProxy } from '../helpers/silent-proxy.ts';

const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map(stop => stop())));

/** An election of its own: the lock belongs to the database. */
async function openElection() {
  const { pool } = await createDatabase();
  const timeline: string[] = [];
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
  return { pool, timeline, startCandidate };
}
const elections = [await openElection(), await openElection()] as const;

// In real time: the server decides by its own clock how long a session has been silent. So both wait at once.
describe.concurrent('leader election', () => {
  test('a leader whose connection is cut without a packet is replaced within 15 s, after it has stopped', async ({
    expect,
  }) => {
    const { pool, timeline, startCandidate } = elections[0];
    const cut = await openThroughSilentProxy(pool);
    startCandidate('first', cut.pool);
    await expect.poll(() => timeline).toEqual(['first leads']);
    startCandidate('second', pool);
    cut.fallSilent();
    await expect.poll(() => timeline.includes('second leads')).toBe(true);
    expect(timeline).toEqual(['first leads', 'first has stopped', 'second leads']);
  }, 30_000);

  test('a leader that answers is not replaced', async ({ expect }) => {
    const { pool, timeline, startCandidate } = elections[1];
    startCandidate('third', pool, 1_500);
    await expect.poll(() => timeline).toEqual(['third leads']);
    startCandidate('fourth', pool, 1_500);
    await pool.query('SELECT pg_sleep(5)');
    expect(timeline).toEqual(['third leads']);
  }, 20_000);
});
