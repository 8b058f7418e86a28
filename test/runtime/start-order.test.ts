import type pg from 'pg';
import { expect, test, vi } from 'vitest';
import { createFastify } from '../../src/api/http/fastify.ts';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabaseClock } from '../../src/db/postgres/database-clock.ts';
import { openConnections } from '../../src/db/postgres/pool.ts';
import { createSingleProcess } from '../../src/runtime/cluster-channel.ts';
import { type Cleanup, shutDown } from '../../src/runtime/graceful-shutdown.ts';
import { startService } from '../../src/runtime/service.ts';
import { serviceEnv } from '../helpers/cli.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';

test('background work begins when the server is made and the pool has its connections', async () => {
  const { pool, url } = await createDatabase();
  const clock = await openDatabaseClock(pool, manualClock());
  const cleanups: Cleanup[] = [];
  /** What there is when a loop asks the database for the first time: here the one of the rates. */
  const firstRound = Promise.withResolvers<{ parts: number; connections: number }>();
  const send = pool.query.bind(pool) as (...args: unknown[]) => unknown;
  vi.spyOn(pool, 'query').mockImplementation(((statement: { text: string }, ...rest: unknown[]) => {
    if (statement.text.includes('UPDATE rate_refresh'))
      firstRound.resolve({ parts: cleanups.length, connections: pool.totalCount });
    return send(statement, ...rest);
  }) as never);
  const settings = readSettings({ ...serviceEnv(url), PORT: '0', LOG_LEVEL: 'silent' });
  try {
    await startService(settings, { pool, clock }, createSingleProcess(), cleanups);
    // The last part is the server.
    expect(await firstRound.promise).toEqual({ parts: cleanups.length, connections: pool.options.max });
  } finally {
    await shutDown(cleanups);
  }
});

test('connections are opened one after the other', async () => {
  const { pool } = await createDatabase();
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  let [opening, most] = [0, 0];
  vi.spyOn(pool, 'connect').mockImplementation((async () => {
    most = Math.max(most, ++opening);
    return connect().finally(() => (opening -= 1));
  }) as never);
  await openConnections(pool);
  expect([most, pool.totalCount, pool.idleCount]).toEqual([1, pool.options.max, pool.options.max]);
  // One that cannot be opened ends it, and is nobody's error.
  vi.mocked(pool.connect).mockRejectedValue(new Error('timeout exceeded when trying to connect') as never);
  await openConnections(pool);
  expect(pool.idleCount).toBe(pool.options.max);
});

test('a server may take as long as it needs to be made', () => {
  const server = createFastify({ clock: manualClock(), trustProxy: [] });
  expect(server.initialConfig.pluginTimeout).toBe(0);
});
