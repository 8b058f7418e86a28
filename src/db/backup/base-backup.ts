import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';
import type { Pool } from '../pool.ts';
import { type BackupSession, type BackupStart, beginBackup, readControl } from './backup-session.ts';
import {
  copyWithSum,
  forEachFile,
  isMissing,
  listTree,
  sumOf,
  syncFolder,
  type Tree,
  writeOnDisk,
} from './files.ts';
import {
  backupFolder,
  baseFolder,
  listBackups,
  listUnfinished,
  sealedKeyName,
  unfinishedFolder,
} from './layout.ts';
import { type Manifest, writeManifest } from './manifest.ts';
import { requireSpace } from './space.ts';
import { formatLsn, isHistoryName, segmentAt, segmentName } from './wal-names.ts';

export interface BackupOptions {
  to: string;
  origin: Manifest['origin'];
  /** As `sealSecretKey` returns it. */
  sealedKey?: string | undefined;
  onProgress?(doneBytes: number, ofBytes: number): void;
}

/**
 * A physical base backup of the running server. It is made under another name and renamed when everything is on disk: a
 * backup that was killed is never taken for a complete one.
 */
export async function takeBackup(pool: Pool, options: BackupOptions): Promise<Manifest> {
  const id = await newBackupId(pool);
  const session = await beginBackup(pool, id);
  try {
    return await copyAll(session, id, options);
  } finally {
    session.end();
  }
}

/** Its time by the database's clock, such as 20261116-030146-9f3c. */
async function newBackupId(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ at: string }>(
    `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDD-HH24MISS') AS at`,
  );
  return `${rows[0]!.at}-${randomBytes(2).toString('hex')}`;
}

async function copyAll(session: BackupSession, id: string, options: BackupOptions): Promise<Manifest> {
  const { start } = session;
  const { to, origin, sealedKey } = options;
  await fs.mkdir(baseFolder(to), { recursive: true, mode: 0o700 });
  await refuseForeignFolder(to, start.systemIdentifier);
  // This session has the only backup of the database: what others left is abandoned.
  for (const abandoned of await listUnfinished(to)) await fs.rm(abandoned, { recursive: true, force: true });

  const tree = await listTree(start.dataDirectory, isLeftOut);
  await requireSpace(to, sizeOf(tree) + 2 * start.segmentBytes);
  const draft = unfinishedFolder(to, id);
  const files = await copyData(start.dataDirectory, tree, draft, options);
  const { finishedAt, stopLsn, label } = await session.stop();
  files.push(await store(draft, 'data/backup_label', label));
  const wal = walBetween(start, stopLsn);
  files.push(...(await copyWal(start.dataDirectory, wal, draft)));
  if (sealedKey) files.push(await store(draft, sealedKeyName, sealedKey));

  const manifest: Manifest = {
    format: 1,
    id,
    origin,
    started_at: start.startedAt.toISOString(),
    finished_at: finishedAt.toISOString(),
    postgres_version: start.postgresVersion,
    system_identifier: start.systemIdentifier,
    timeline: start.timeline,
    start_lsn: formatLsn(start.startLsn),
    stop_lsn: formatLsn(stopLsn),
    wal_segment_bytes: start.segmentBytes,
    first_wal: wal[0]!,
    last_wal: wal.at(-1)!,
    has_secret_key: sealedKey !== undefined,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    folders: tree.folders,
    files,
  };
  await writeManifest(draft, manifest);
  for (const folder of ['', 'data', 'wal', ...tree.folders.map(path => `data/${path}`)])
    await syncFolder(join(draft, folder));
  await fs.rename(draft, backupFolder(to, id));
  await syncFolder(baseFolder(to));
  return manifest;
}

/** WAL and backups of two databases in one folder would be mixed up when one is restored. */
async function refuseForeignFolder(to: string, identifier: string): Promise<void> {
  const foreign = (await listBackups(to)).find(({ system_identifier }) => system_identifier !== identifier);
  if (foreign)
    throw new OperatorError(
      `${to} has backups of another database (${foreign.id}): take a folder of its own.`,
    );
}

/** Their content means nothing to a restored server; the folders themselves must exist. */
const emptied = [
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
];
const leftOutNames =
  /^(postmaster\.(pid|opts)|pg_internal\.init.*|pgsql_tmp.*|.*\.tmp|\.s\.PGSQL\..*|backup_label|tablespace_map|backup_manifest)$/;

function isLeftOut(path: string): boolean {
  if (emptied.includes(dirname(path))) return true;
  return leftOutNames.test(path.slice(path.lastIndexOf('/') + 1));
}

const sizeOf = ({ files }: Tree) => files.reduce((sum, { bytes }) => sum + bytes, 0);

const controlFile = 'global/pg_control';

async function copyData(
  dataDirectory: string,
  tree: Tree,
  draft: string,
  { onProgress }: BackupOptions,
): Promise<Manifest['files']> {
  for (const folder of ['', 'data', 'wal', ...tree.folders.map(path => `data/${path}`)])
    await fs.mkdir(join(draft, folder), { mode: 0o700 });
  const of = sizeOf(tree);
  let done = 0;
  const files: Manifest['files'] = [];
  const copied = tree.files.filter(file => file.path !== controlFile);
  await forEachFile(copied, async ({ path }) => {
    try {
      const sum = await copyWithSum(join(dataDirectory, path), join(draft, 'data', path), bytes => {
        done += bytes;
        onProgress?.(Math.min(done, of), of);
      });
      files.push({ path: `data/${path}`, ...sum });
    } catch (error) {
      // A table that was dropped meanwhile: the WAL drops it in the restored server too.
      if (!isMissing(error)) throw error;
    }
  });
  files.push(await store(draft, `data/${controlFile}`, await readControl(dataDirectory)));
  onProgress?.(of, of);
  return files;
}

async function store(
  draft: string,
  path: string,
  content: string | Buffer,
): Promise<Manifest['files'][number]> {
  const target = join(draft, path);
  await writeOnDisk(target, content);
  return { path, ...(await sumOf(target)) };
}

function walBetween({ startLsn, timeline, segmentBytes }: BackupStart, stopLsn: bigint): string[] {
  const first = segmentAt(startLsn, segmentBytes);
  // A position at the very end of a segment belongs to that segment.
  const last = segmentAt(stopLsn - 1n, segmentBytes);
  return Array.from({ length: last - first + 1 }, (_, nth) =>
    segmentName({ timeline, number: first + nth }, segmentBytes),
  );
}

/** The segments, and the history of timelines, which says where each began. */
async function copyWal(dataDirectory: string, wal: string[], draft: string): Promise<Manifest['files']> {
  const source = join(dataDirectory, 'pg_wal');
  const names = [...(await fs.readdir(source)).filter(isHistoryName), ...wal];
  const files: Manifest['files'] = [];
  for (const name of names)
    files.push({ path: `wal/${name}`, ...(await copyWithSum(join(source, name), join(draft, 'wal', name))) });
  return files;
}
