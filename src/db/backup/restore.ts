import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';
import * as stores from '../backup-store/index.ts';
import * as embedded from '../embedded/index.ts';
import { guide } from './backup-session.ts';
import { type RestoreOptions, recover } from './recovery.ts';

/**
 * Restores into `dataDir`. All files are made in `restore.unfinished` there, and the server replays the WAL there, so that
 * a command or a start that finds this folder refuses to go on. Its removal is the last step; the mark is on disk before.
 */
export async function restoreBackup(options: RestoreOptions): Promise<{ until: string }> {
  const { dataDir, backup } = options;
  refuseOtherServers(backup);
  await requireEmpty(dataDir);
  const wasThere = await fs.mkdir(dataDir, { recursive: true, mode: 0o700 }).then(made => made === undefined);
  const unfinished = embedded.unfinishedRestoreIn(dataDir);
  await fs.mkdir(unfinished, { mode: 0o700 }).catch(error => {
    // Another restore was faster.
    embedded.refuseUnfinishedRestore(dataDir);
    throw error;
  });
  try {
    await stores.requireSpace(dataDir, backup.bytes);
    const cluster = await openRestored(unfinished, dataDir, options.from);
    await copyFiles(cluster, options);
    const recovered = await recover(cluster, options);
    return await finish(cluster, recovered, options);
  } catch (error) {
    await removeAll(dataDir);
    if (!wasThere) await fs.rmdir(dataDir);
    throw error;
  }
}

/** What a failed restore wrote; `restore.unfinished` last, in case this is interrupted too. */
async function removeAll(dataDir: string): Promise<void> {
  const unfinished = embedded.unfinishedRestoreIn(dataDir);
  for (const name of await stores.readNames(dataDir))
    if (join(dataDir, name) !== unfinished)
      await fs.rm(join(dataDir, name), { recursive: true, force: true });
  await fs.rm(unfinished, { recursive: true, force: true });
}

function refuseOtherServers({ id, origin, postgres_version }: stores.Manifest): void {
  if (origin === 'outside')
    throw new OperatorError(`The backup ${id} is from your own PostgreSQL: restore it manually (${guide}).`);
  const major = Number.parseInt(postgres_version, 10);
  if (major !== embeddedMajor)
    throw new OperatorError(
      `The backup ${id} is of PostgreSQL ${major}, the embedded one is ${embeddedMajor}: restore it with the version of Kopeck that made it.`,
    );
}

const embeddedMajor = 18;

export async function requireEmpty(dataDir: string): Promise<void> {
  if ((await stores.readNames(dataDir)).length === 0) return;
  throw new OperatorError(
    `${dataDir} is not empty: set DATA_DIR to a folder that does not exist. Nothing was written.`,
  );
}

/** As root, for the owner of an existing DATA_DIR. */
async function openRestored(
  unfinished: string,
  dataDir: string,
  from: stores.BackupStore,
): Promise<embedded.Cluster> {
  const dir = join(unfinished, 'postgres');
  const runAs = embedded.identityFor(dir, process.getuid!() === 0 ? await fs.stat(dataDir) : undefined);
  return {
    dir,
    logFile: `${dir}.log`,
    binaries: embedded.findBinaries(),
    runAs,
    commandEnvironment: from.environment,
  };
}

/** Without syncing each file: the server syncs its whole folder before it recovers. */
async function copyFiles({ dir, runAs }: embedded.Cluster, options: RestoreOptions): Promise<void> {
  const { from, backup, onProgress, signal } = options;
  const own = async (path: string) => runAs && (await fs.chown(path, runAs.uid, runAs.gid));
  for (const folder of ['', ...backup.folders]) {
    await fs.mkdir(join(dir, folder), { mode: 0o700 });
    await own(join(dir, folder));
  }
  let done = 0;
  await stores.forEachFile(backup.files, async ({ path, bytes }) => {
    signal?.throwIfAborted();
    const target = pathInDataDir(path);
    if (!target) return;
    await from.copyTo(`${stores.backupFolder(backup.id)}/${path}`, join(dir, target));
    await fs.chmod(join(dir, target), 0o600);
    await own(join(dir, target));
    done += bytes;
    onProgress?.(done, backup.bytes);
  });
}

/** Where a file of the backup goes in the data directory; undefined for the sealed key. */
function pathInDataDir(path: string): string | undefined {
  const [top, ...rest] = path.split('/');
  if (top === 'data') return join(...rest);
  return top === 'wal' ? join('pg_wal', ...rest) : undefined;
}

async function finish(
  cluster: embedded.Cluster,
  { until, now }: Awaited<ReturnType<typeof recover>>,
  { dataDir, backup, secretKey }: RestoreOptions,
): Promise<{ until: string }> {
  const { uid, gid } = await fs.stat(dataDir);
  const mark = {
    restored_at: now.toISOString(),
    backup_id: backup.id,
    // The earliest time that may be meant: what came later is asked for again.
    until: until?.toISOString() ?? backup.started_at,
  };
  if (secretKey) {
    await stores.writeOnDisk(join(dataDir, 'secret.key'), secretKey);
    await fs.chown(join(dataDir, 'secret.key'), uid, gid);
  }
  await embedded.writeRestoredMark(dataDir, mark);
  await fs.chown(embedded.restoredMarkPath(dataDir), uid, gid);
  await fs.rename(cluster.dir, join(dataDir, 'postgres'));
  await stores.syncFolder(dataDir);
  await fs.rm(dirname(cluster.dir), { recursive: true });
  await stores.syncFolder(dataDir);
  return { until: mark.until };
}
