import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';
import * as stores from '../backup-store/index.ts';
import { type Pool, readValue } from '../postgres/index.ts';
import { type BackupSession, type BackupStart, beginBackup, readControl } from './backup-session.ts';

export interface BackupOptions {
  to: stores.BackupStore;
  origin: stores.Manifest['origin'];
  /** As `sealSecretKey` returns it. */
  sealedKey?: string | undefined;
  onProgress?(doneBytes: number, ofBytes: number): void;
}

/**
 * A physical base backup of the running server. It is a draft until everything is on disk: a backup that was killed is
 * never taken for a complete one.
 */
export async function takeBackup(pool: Pool, options: BackupOptions): Promise<stores.Manifest> {
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
  const now = `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDD-HH24MISS') AS at`;
  return `${await readValue(pool, { text: now })}-${randomBytes(2).toString('hex')}`;
}

async function copyAll(session: BackupSession, id: string, options: BackupOptions): Promise<stores.Manifest> {
  const { start } = session;
  const { to, origin, sealedKey } = options;
  await refuseForeignFolder(to, start.systemIdentifier);
  // This session has the only backup of the database: what others left is abandoned.
  for (const abandoned of await stores.listUnfinished(to)) await to.removeFolder(abandoned);

  const tree = await stores.listTree(start.dataDirectory, isLeftOut);
  await to.drafts.begin(stores.backupFolder(id), {
    folders: ['data', 'wal', ...tree.folders.map(path => `data/${path}`)],
    bytes: sizeOf(tree) + 2 * start.segmentBytes,
  });
  const draft: Draft = { store: to, folder: to.drafts.pathOf(stores.backupFolder(id)) };
  const files = await copyData(start.dataDirectory, tree, draft, options);
  const { finishedAt, stopLsn, label } = await session.stop();
  files.push(await writeInto(draft, 'data/backup_label', [Buffer.from(label)]));
  const wal = walBetween(start, stopLsn);
  files.push(...(await copyWal(start.dataDirectory, wal, draft)));
  if (sealedKey) files.push(await writeInto(draft, stores.sealedKeyName, [Buffer.from(sealedKey)]));

  const manifest: stores.Manifest = {
    format: 1,
    id,
    origin,
    started_at: start.startedAt.toISOString(),
    finished_at: finishedAt.toISOString(),
    postgres_version: start.postgresVersion,
    system_identifier: start.systemIdentifier,
    timeline: start.timeline,
    start_lsn: stores.formatLsn(start.startLsn),
    stop_lsn: stores.formatLsn(stopLsn),
    wal_segment_bytes: start.segmentBytes,
    first_wal: wal[0]!,
    last_wal: wal.at(-1)!,
    has_secret_key: sealedKey !== undefined,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    folders: tree.folders,
    files,
  };
  await to.drafts.complete(stores.backupFolder(id), stores.manifestName, stores.formatManifest(manifest));
  return manifest;
}

/** WAL and backups of two databases in one folder would be mixed up when one is restored. */
async function refuseForeignFolder(to: stores.BackupStore, identifier: string): Promise<void> {
  const foreign = (await stores.listBackups(to)).find(
    ({ system_identifier }) => system_identifier !== identifier,
  );
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

const sizeOf = ({ files }: stores.Tree) => files.reduce((sum, { bytes }) => sum + bytes, 0);

const controlFile = 'global/pg_control';

async function copyData(
  dataDirectory: string,
  tree: stores.Tree,
  draft: Draft,
  { onProgress }: BackupOptions,
): Promise<stores.Manifest['files']> {
  const of = sizeOf(tree);
  let done = 0;
  const files: stores.Manifest['files'] = [];
  const copied = tree.files.filter(file => file.path !== controlFile);
  await stores.forEachFile(copied, async ({ path }) => {
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
  store: stores.BackupStore;
  folder: string;
}

type StoredFile = stores.Manifest['files'][number];

async function writeInto(
  { store, folder }: Draft,
  path: string,
  pieces: stores.Pieces,
  onBytes?: stores.OnBytes,
): Promise<StoredFile> {
  const passing = stores.summed(pieces, onBytes);
  await store.write(`${folder}/${path}`, passing.pieces);
  return { path, ...passing.sum() };
}

/** Undefined if there is no such file any more. */
async function copyInto(
  draft: Draft,
  path: string,
  source: string,
  onBytes?: stores.OnBytes,
): Promise<StoredFile | undefined> {
  const file = await stores.ifThere(fs.open(source));
  if (!file) return undefined;
  try {
    return await writeInto(draft, path, stores.readPieces(file), onBytes);
  } finally {
    await file.close();
  }
}

function walBetween({ startLsn, timeline, segmentBytes }: BackupStart, stopLsn: bigint): string[] {
  const first = stores.segmentAt(startLsn, segmentBytes);
  // A position at the very end of a segment belongs to that segment.
  const last = stores.segmentAt(stopLsn - 1n, segmentBytes);
  return Array.from({ length: last - first + 1 }, (_, nth) =>
    stores.segmentName({ timeline, number: first + nth }, segmentBytes),
  );
}

/** The segments, and the history of timelines, which says where each began. */
async function copyWal(
  dataDirectory: string,
  wal: string[],
  draft: Draft,
): Promise<stores.Manifest['files']> {
  const source = join(dataDirectory, 'pg_wal');
  const names = [...(await fs.readdir(source)).filter(stores.isHistoryName), ...wal];
  const files: stores.Manifest['files'] = [];
  for (const name of names) {
    const file = await copyInto(draft, `wal/${name}`, join(source, name));
    if (!file) throw new Error(`WAL file ${name} is gone although the backup keeps it`);
    files.push(file);
  }
  return files;
}
