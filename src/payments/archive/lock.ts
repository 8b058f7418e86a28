import { type Pool, type Queryable, readValue } from '../../db/postgres/index.ts';

/** Key of the advisory lock of the one run at a time; an arbitrary number. */
const archiveLock = 7_310_861_002;

/** For one run at a time that moves rows to the archive, or the archive. Without it a second run would be stopped by the keys of the archive. */
export async function withArchiveLock<Result>(
  pool: Pool,
  work: () => Promise<Result>,
): Promise<Result | { outcome: 'under_way' }> {
  const client = await pool.connect();
  client.on('error', () => {});
  try {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
      archiveLock,
    ]);
    return rows[0]!.locked ? await work() : { outcome: 'under_way' };
  } finally {
    // The server ends a session some time after it was closed. Closed all the same, so that the lock goes with it in any case.
    await client.query('SELECT pg_advisory_unlock_all()').catch(() => {});
    client.release(true);
  }
}

/** Whether the archive is on the workers of a Citus cluster. */
export const isArchiveDistributed = (db: Queryable) =>
  readValue<boolean>(db, {
    text: 'SELECT archive_is_distributed() AS is_distributed',
  });
