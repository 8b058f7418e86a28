import * as stores from '../backup-store/index.ts';

export type WalChain = Awaited<ReturnType<typeof findChain>>;

/** The archived WAL that leads on from a backup. */
export async function findChain(store: stores.BackupStore, backup: stores.Manifest) {
  const names = (await store.list(stores.walFolder))
    .filter(name => name.endsWith('.gz'))
    .map(name => name.slice(0, -3));
  const path = await findPath(store, backup, names.filter(stores.isHistoryName));
  const archived = new Set(names.filter(stores.isSegmentName));
  const bytes = backup.wal_segment_bytes;
  const nameOn = (timeline: number, number: number) => stores.segmentName({ timeline, number }, bytes);
  const onPath = (number: number) =>
    path.filter(({ firstSegment, lastSegment }) => firstSegment <= number && number <= lastSegment);

  let last = backup.last_wal;
  let isArchived = false;
  for (let number = stores.parseSegment(last, bytes).number + 1; ; number++) {
    // The newest timeline counts, as in the server.
    const found = onPath(number)
      .map(({ timeline }) => nameOn(timeline, number))
      .find(name => archived.has(name));
    if (found) {
      last = found;
      isArchived = true;
      continue;
    }
    const hasLater = [...archived].some(name => {
      const segment = stores.parseSegment(name, bytes);
      return (
        segment.number > number &&
        onPath(segment.number).some(({ timeline }) => timeline === segment.timeline)
      );
    });
    return {
      /** The newest timeline that continues the backup. */
      timeline: path[0]!.timeline,
      /** The last segment without a gap before it. */
      last,
      /** When that segment was archived; undefined if the archive has nothing after the backup. */
      until: isArchived ? (await store.find(`${stores.walFolder}/${last}.gz`))?.modifiedAt : undefined,
      /** The segment that is missing although later ones are there. */
      missing: hasLater ? nameOn(onPath(number)[0]!.timeline, number) : undefined,
    };
  }
}

/** The newest timeline that continues the backup, and those before it down to its own, with the segments in which each counts. */
async function findPath(store: stores.BackupStore, backup: stores.Manifest, histories: string[]) {
  const numbers = histories.map(name => Number.parseInt(name, 16));
  const later = numbers.filter(timeline => timeline > backup.timeline).sort((left, right) => right - left);
  for (const timeline of later) {
    const branches = await readHistory(store, backup, timeline);
    const fromOwn = branches.findIndex(branch => branch.timeline === backup.timeline);
    // A timeline that left before the end of the backup does not contain it.
    if (fromOwn < 0 || branches[fromOwn]!.endLsn < stores.parseLsn(backup.stop_lsn)) continue;
    const ends = branches
      .slice(fromOwn)
      .map(({ endLsn }) => stores.segmentAt(endLsn, backup.wal_segment_bytes));
    const timelines = [...branches.slice(fromOwn).map(branch => branch.timeline), timeline];
    return timelines
      .map((each, index) => ({
        timeline: each,
        firstSegment: ends[index - 1] ?? 0,
        lastSegment: ends[index] ?? Number.POSITIVE_INFINITY,
      }))
      .reverse();
  }
  return [{ timeline: backup.timeline, firstSegment: 0, lastSegment: Number.POSITIVE_INFINITY }];
}

/** The timelines before this one, the oldest first, and where each ended. */
async function readHistory(store: stores.BackupStore, backup: stores.Manifest, timeline: number) {
  const name = `${timeline.toString(16).toUpperCase().padStart(8, '0')}.history`;
  const content =
    (await stores.readArchivedWal(store, name)) ??
    (await stores.readAll(store, `${stores.backupFolder(backup.id)}/wal/${name}`));
  return parseHistory(content!.toString());
}

export function parseHistory(text: string): { timeline: number; endLsn: bigint }[] {
  return text
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([timeline = '']) => /^\d+$/.test(timeline))
    .map(([timeline, lsn]) => ({ timeline: Number(timeline), endLsn: stores.parseLsn(lsn!) }));
}
