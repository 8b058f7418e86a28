import { type Queryable, readValue } from '../../db/postgres/index.ts';

/** Whether the archive is on the workers of a Citus cluster. */
export const isArchiveDistributed = (db: Queryable) =>
  readValue<boolean>(db, {
    text: 'SELECT archive_is_distributed() AS is_distributed',
  });
