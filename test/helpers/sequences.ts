import type { Pool } from '../../src/db/postgres/pool.ts';

/** As in a server that has replayed its log: it finds sequences up to 32 ahead of the last number that was given out. */
export const moveSequencesAhead = (pool: Pool, numbers: number) =>
  pool.query({
    text: `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, last_value + $1)
             FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL`,
    values: [numbers],
  });
