import { isSegmentName, parseSegment } from '../backup-store/index.ts';
import { type Queryable, readRow, readValue } from '../postgres/index.ts';

type WalArchiving = Awaited<ReturnType<typeof readWalArchiving>>;

/** For the embedded server and for any other. */
export async function readWalArchiving(db: Queryable) {
  const { isOn, archivedAt, failedName, failedAt, canList, ...row } = await readRow<{
    isOn: boolean;
    archivedAt: Date | null;
    failedName: string | null;
    failedAt: Date | null;
    archivedName: string | null;
    currentName: string;
    segmentBytes: number;
    canList: boolean;
  }>(db, {
    text: `SELECT current_setting('archive_mode') <> 'off' AS "isOn", a.last_archived_time AS "archivedAt",
                  f.last_failed_wal AS "failedName", f.last_failed_time AS "failedAt",
                  has_function_privilege('pg_catalog.pg_ls_archive_statusdir()', 'EXECUTE') AS "canList",
                  a.last_archived_wal AS "archivedName", pg_walfile_name(pg_current_wal_lsn()) AS "currentName",
                  (SELECT setting::int FROM pg_settings WHERE name = 'wal_segment_size') AS "segmentBytes"
             FROM pg_stat_archiver a
             LEFT JOIN pg_stat_archiver f ON f.last_failed_time > coalesce(a.last_archived_time, '-infinity')`,
  });
  const numberOf = (name: string) => parseSegment(name, row.segmentBytes).number;
  // The last file may have been the history of a timeline.
  const archived =
    row.archivedName !== null && isSegmentName(row.archivedName) ? row.archivedName : undefined;
  return {
    isOn,
    /** The last success; null if there was none. */
    archivedAt,
    /** Complete segments after the last archived one; several are normal under load. */
    waitingSegments: archived ? Math.max(0, numberOf(row.currentName) - numberOf(archived) - 1) : 0,
    /** The attempt after it that failed. */
    failed: failedName !== null && failedAt ? { name: failedName, at: failedAt } : undefined,
    /** How long a segment has been waiting; undefined if none waits, or the user may not know. */
    waitingSec: isOn && canList ? await readWaitingSec(db) : undefined,
  };
}

/** The server marks each segment that is ready; only superusers and pg_monitor may list the marks. */
async function readWaitingSec(db: Queryable): Promise<number | undefined> {
  const sec = await readValue<number | null>(db, {
    text: `SELECT extract(epoch FROM clock_timestamp() - min(modification))::int AS sec
             FROM pg_ls_archive_statusdir() WHERE name LIKE '%.ready'`,
  });
  return sec ?? undefined;
}

const maxWaitingSec = 300;
/** A burst of writes leaves a few; these are 256 MB. */
const maxWaitingSegments = 16;

const consequence =
  'What was committed since then is in no backup, and the disk of the server fills. See its log, and what archive_command needs';

/** What to do about it; undefined if all is well, or nothing is to be archived. */
export function describeNotArchived(found: WalArchiving): string | undefined {
  const { isOn, failed, waitingSec, waitingSegments } = found;
  if (!isOn) return undefined;
  if (failed)
    return `WAL file ${failed.name} could not be archived at ${failed.at.toISOString()}. ${consequence}.`;
  const isLate = waitingSec === undefined ? waitingSegments > maxWaitingSegments : waitingSec > maxWaitingSec;
  if (!isLate) return undefined;
  const what =
    waitingSec === undefined
      ? `${waitingSegments} segments of WAL wait`
      : `WAL has waited for ${waitingSec} s`;
  return `${what} to be archived. ${consequence}.`;
}
