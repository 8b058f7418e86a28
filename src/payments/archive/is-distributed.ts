import type { Queryable } from '../../db/postgres/index.ts';

/** Whether the archive is on the workers of a Citus cluster. */
export async function isArchiveDistributed(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ is_distributed: boolean }>({
    text: 'SELECT archive_is_distributed() AS is_distributed',
  });
  return rows[0]!.is_distributed;
}
