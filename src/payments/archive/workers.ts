import { type Queryable, readValue, sqlStateOf } from '../../db/postgres/index.ts';
import { isArchiveDistributed } from './is-distributed.ts';

/** A worker of the Citus cluster that has a part of the archive. */
export interface ArchiveWorker {
  /** Such as `10.0.0.5:5432`. */
  node: string;
  isReachable: boolean;
}

/** A worker that does not answer within this time cannot be used by requests either. */
const answerWithinMs = 2_000;

/** Empty if the archive is on this server. Asks each worker through the coordinator, as reads of the archive do. */
export async function askArchiveWorkers(db: Queryable): Promise<ArchiveWorker[]> {
  if (!(await isArchiveDistributed(db))) return [];
  const { rows } = await db.query<{ name: string; port: number }>({
    text: `SELECT nodename AS name, nodeport AS port FROM pg_dist_node
            WHERE noderole = 'primary' AND isactive AND groupid <> 0 ORDER BY 1, 2`,
  });
  const workers: ArchiveWorker[] = [];
  for (const { name, port } of rows)
    workers.push({ node: `${name}:${port}`, isReachable: await answers(db, name, port) });
  return workers;
}

async function answers(db: Queryable, name: string, port: number): Promise<boolean> {
  try {
    return readValue<boolean>(db, {
      text: 'SELECT citus_check_connection_to_node($1, $2) AS answers',
      values: [name, port],
      query_timeout: answerWithinMs,
    });
  } catch (error) {
    // The coordinator itself is asked by the heartbeat.
    if (sqlStateOf(error)?.startsWith('57P')) throw error;
    return false;
  }
}
