import { type AuditContext, recordChange } from '../../../db/audit/index.ts';
import { hasRow, type Queryable, readRow, readRows } from '../../../db/postgres/index.ts';
import { isArchiveDistributed, withArchiveLock } from '../lock.ts';
import { copyMissing, countCopied, countMissing, verifyPartition } from './copy.ts';
import { dropLocal, hasLocalLeft, setViews, swap } from './swap.ts';
import { createTables, listPartitions, longTransaction } from './tables.ts';

/** Why the archive cannot be distributed here. Nothing was changed. */
export type DistributeRefusal =
  | { outcome: 'no_citus' | 'no_workers' | 'not_coordinator' | 'under_way' }
  | { outcome: 'no_rights'; owner: string }
  | { outcome: 'other_time_zone'; node: string; timeZone: string }
  | { outcome: 'worker_unreachable'; node: string; reason: string };

export type DistributeResult =
  | { outcome: 'distributed'; rows: number; workers: number }
  | { outcome: 'already_distributed'; workers: number }
  | DistributeRefusal;

type Phase = 'copy' | 'verify' | 'drop';

export interface DistributeOptions {
  /** It goes on when this has ended. */
  onProgress?: (phase: Phase, done: number, of: number) => void | Promise<void>;
}

/**
 * Moves the archive to the workers of a Citus cluster, beside the running service. Copies it, month by month; compares number and
 * digest of the rows with `archive_sums`; lets the copy take the place of the local tables in one transaction; and drops these. Readers
 * have one whole archive at any time. A kill leaves what was committed, and the next run goes on there.
 */
export async function distributeArchive(
  audit: AuditContext,
  { onProgress = () => {} }: DistributeOptions = {},
): Promise<DistributeResult> {
  const { pool } = audit;
  const refusal = await findRefusal(pool);
  if (refusal) return refusal;
  const workers = (await listWorkers(pool)).length;
  return withArchiveLock(pool, async (): Promise<DistributeResult> => {
    const isDone = await isArchiveDistributed(pool);
    if (isDone && !(await hasLocalLeft(pool))) {
      // A migration may have made them again.
      await longTransaction(pool, setViews);
      return { outcome: 'already_distributed', workers };
    }
    let rows = 0;
    if (!isDone) {
      await recordChange(pool, audit, {
        action: 'archive.distribute',
        subject: 'archive',
        after: { workers },
      });
      rows = await moveToWorkers(audit, onProgress);
    }
    let dropped = 0;
    const of = (await listPartitions(pool, 'public')).length * 2;
    for await (const _ of dropLocal(audit)) await onProgress('drop', ++dropped, of);
    return { outcome: 'distributed', rows, workers };
  });
}

async function moveToWorkers(audit: AuditContext, onProgress: NonNullable<DistributeOptions['onProgress']>) {
  const { pool } = audit;
  await createTables(pool);
  const partitions = await listPartitions(pool, 'public');
  let copied = 0;
  // Test rows are pruned meanwhile, and rows on a worker may not be those that were copied, so there may be a rest.
  for (let round = 1; ; round++) {
    const of = copied + (await countMissing(pool));
    await onProgress('copy', copied, of);
    for await (const rows of copyMissing(pool, partitions)) {
      copied += rows;
      await onProgress('copy', copied, of);
    }
    const all = await countCopied(pool);
    let verified = 0;
    for (const partition of partitions) {
      verified += await verifyPartition(pool, partition);
      await onProgress('verify', verified, all);
    }
    if (await swap(audit)) return copied;
    if (round === maxRounds)
      throw new Error(
        'the archive is not as it was archived: run kopeck ledger verify. It stays where it is.',
      );
  }
}

const maxRounds = 5;

const listWorkers = (db: Queryable) =>
  readRows<{ node: string }>(db, {
    text: `SELECT format('%s:%s', nodename, nodeport) AS node FROM pg_dist_node
            WHERE noderole = 'primary' AND isactive AND shouldhaveshards AND groupid <> 0 ORDER BY 1`,
  });

async function findRefusal(db: Queryable): Promise<DistributeRefusal | undefined> {
  const { has_citus, is_owner, owner } = await readRow<{
    has_citus: boolean;
    is_owner: boolean;
    owner: string;
  }>(db, {
    text: `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS has_citus,
                  pg_has_role(c.relowner, 'USAGE') AND has_database_privilege(current_database(), 'CREATE') AS is_owner,
                  pg_get_userbyid(c.relowner) AS owner
             FROM pg_class c WHERE c.oid = 'public.payments_archive'::regclass`,
  });
  if (!has_citus) return { outcome: 'no_citus' };
  if (!is_owner) return { outcome: 'no_rights', owner };
  if (await hasRow(db, { text: 'SELECT FROM pg_dist_local_group WHERE groupid <> 0' }))
    return { outcome: 'not_coordinator' };
  if ((await listWorkers(db)).length === 0) return { outcome: 'no_workers' };
  return findUnfitWorker(db);
}

/** Digests are computed on the workers, and have times in the zone of the session there. */
async function findUnfitWorker(db: Queryable): Promise<DistributeRefusal | undefined> {
  const { rows } = await db.query<{ node: string; success: boolean; result: string }>({
    text: `SELECT format('%s:%s', nodename, nodeport) AS node, success, result
             FROM run_command_on_workers('SHOW TimeZone') ORDER BY 1`,
  });
  for (const { node, success, result } of rows) {
    if (!success) return { outcome: 'worker_unreachable', node, reason: result };
    if (!['UTC', 'Etc/UTC', 'GMT'].includes(result))
      return { outcome: 'other_time_zone', node, timeZone: result };
  }
  return undefined;
}
