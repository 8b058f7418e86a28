import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';
import {
  type BackupStore,
  backupFolder,
  forEachFile,
  formatLsn,
  formatManifest,
  ifThere,
  isHistoryName,
  listBackups,
  listTree,
  listUnfinished,
  type Manifest,
  manifestName,
  type OnBytes,
  type Pieces,
  readPieces,
  sealedKeyName,
  segmentAt,
  segmentName,
  summed,
  type Tree,
} from '../backup-store/index.ts';
import type { Pool } from '../postgres/index.ts';
import { type BackupSession, type BackupStart, beginBackup, readControl } from './backup-session.ts';

export interface BackupOptions {
  to: BackupStore;
  origin: Manifest['origin'];
  /** As `sealSecretKey` returns it. */
  sealedKey?: string | undefined;
  onProgress?(doneBytes: number, ofBytes: number): void;
}

/**
 * A physical base backup of the running server. It is a draft until everything is on disk: a backup that was killed is
 * never taken for a complete one.
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
  await refuseForeignFolder(to, start.systemIdentifier);
  // This session has the only backup of the database: what others left is abandoned.
  for (const abandoned of await listUnfinished(to)) await to.removeFolder(abandoned);

  const tree = await listTree(start.dataDirectory, isLeftOut);
  await to.drafts.begin(backupFolder(id), {
    folders: ['data', 'wal', ...tree.folders.map(path => `data/${path}`)],
    bytes: sizeOf(tree) + 2 * start.segmentBytes,
  });
  const draft: Draft = { store: to, folder: to.drafts.pathOf(backupFolder(id)) };
  const files = await copyData(start.dataDirectory, tree, draft, options);
  const { finishedAt, stopLsn, label } = await session.stop();
  files.push(await writeInto(draft, 'data/backup_label', [Buffer.from(label)]));
  const wal = walBetween(start, stopLsn);
  files.push(...(await copyWal(start.dataDirectory, wal, draft)));
  if (sealedKey) files.push(await writeInto(draft, sealedKeyName, [Buffer.from(sealedKey)]));

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
  await to.drafts.complete(backupFolder(id), manifestName, formatManifest(manifest));
  return manifest;
}

/** WAL and backups of two databases in one folder would be mixed up when one is restored. */
async function refuseForeignFolder(to: BackupStore, identifier: string): Promise<void> {
  const foreign = (await listBackups(to)).find(({ system_identifier }) => system_identifier !== identifier);
  if (foreign)
    throw new OperatorError(
      `${to.address} has backups of another database (${foreign.id}): use a separate folder.`,
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
  draft: Draft,
  { onProgress }: BackupOptions,
): Promise<Manifest['files']> {
  const of = sizeOf(tree);
  let done = 0;
  const files: Manifest['files'] = [];
  const copied = tree.files.filter(file => file.path !== controlFile);
  await forEachFile(copied, async ({ path }) => {
    const file = await copyInto(draft, `data/${path}`, join(dataDirectory, path), bytes => {
      done += bytes;
      onProgress?.(Math.min(done, of), of);
    });
    // A table that was dropped meanwhile: the WAL drops it in the restored server too.
    if (file) files.push(file);
  });
  files.push(await writeInto(draft, `data/${controlFile}`, [await readControl(dataDirectory)]));
  onProgress?.(of, of);
  return files;
}

interface Draft {
  store: BackupStore;
  folder: string;
}

type StoredFile = Manifest['files'][number];

async function writeInto(
  { store, folder }: Draft,
  path: string,
  pieces: Pieces,
  onBytes?: OnBytes,
): Promise<StoredFile> {
  const passing = summed(pieces, onBytes);
  await store.write(`${folder}/${path}`, passing.pieces);
  return { path, ...passing.sum() };
}

/** Undefined if there is no such file any more. */
async function copyInto(
  draft: Draft,
  path: string,
  source: string,
  onBytes?: OnBytes,
): Promise<StoredFile | undefined> {
  const file = await ifThere(fs.open(source));
  if (!file) return undefined;
  try {
    return await writeInto(draft, path, readPieces(file), onBytes);
  } finally {
    await file.close();
  }
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
async function copyWal(dataDirectory: string, wal: string[], draft: Draft): Promise<Manifest['files']> {
  const source = join(dataDirectory, 'pg_wal');
  const names = [...(await fs.readdir(source)).filter(isHistoryName), ...wal];
  const files: Manifest['files'] = [];
  for (const name of names) {
    const file = await copyInto(draft, `wal/${name}`, join(source, name));
    if (!file) throw new Error(`WAL file ${name} is gone although the backup keeps it`);
    files.push(file);
  }
  return files;
}
