import type { Clock } from '../base/clock.ts';
import type { Queryable } from '../db/postgres/index.ts';
import { pruneOlder } from '../db/retention/index.ts';

const keptDays = 3;

/** What keys with a daily limit spent on past days, which no opening looks at. */
export async function pruneKeyTurnovers(db: Queryable, clock: Clock): Promise<number> {
  const turnovers = await pruneOlder(db, clock, { table: 'key_turnovers', since: 'day', keptDays });
  return turnovers + (await pruneOlder(db, clock, { table: 'key_unsettled', since: 'day', keptDays }));
}
