import { inject } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createIncarnationGuard } from '../../src/db/history/guard.ts';
import { readIdentity } from '../../src/db/history/identity.ts';
import { joinIncarnation } from '../../src/db/history/join.ts';
import { createNewestHistory } from '../../src/db/history/newest-history.ts';
import { openPool, type Pool } from '../../src/db/postgres/pool.ts';
import { copyDatabase } from './copied-database.ts';
import { createDatabase } from './database.ts';
import type { openDatabaseHost } from './database-host.ts';

export const joinHistory = (pool: Pool, isRestored = false) =>
  joinIncarnation({ pool, clock: systemClock }, { place: undefined, isRestored });

/** A database, and a copy of it that has gone on: as a primary that was replaced, and its successor. */
export async function twoHistories(prepare = async (_pool: Pool) => {}) {
  const { pool: older } = await createDatabase();
  await joinHistory(older);
  await prepare(older);
  const newer = await copyDatabase(older);
  await joinHistory(newer, true);
  return { older, newer };
}

/** A pool that leads where the host leads, and stays with the history that it finds there now. */
export async function poolThrough(
  { port }: Awaited<ReturnType<typeof openDatabaseHost>>,
  max: number,
  options: Pool['options'] = {} as Pool['options'],
) {
  const guard = createIncarnationGuard(createNewestHistory());
  const { check, isCurrent } = guard;
  const { user } = inject('connection');
  const pool = openPool(
    { ...options, host: '127.0.0.1', port, user, database: 'any', check, isCurrent },
    max,
  );
  guard.stayWith(await readIdentity(pool));
  return { pool, guard };
}
