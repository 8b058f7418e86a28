import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';
import { readS3Settings } from '../../base/s3-settings.ts';
import * as stores from '../backup-store/index.ts';
import type { Cluster } from './cluster.ts';
import { letPass } from './identity.ts';

/**
 * Where the server archives its WAL. Kept in a file, since any process may be the one that starts the server: a command
 * without BACKUP_DIR would start it without the archive and leave a gap.
 */
const choicePath = (dataDir: string) => join(dataDir, 'wal-archive.json');

/** What `kopeck start` was given as BACKUP_DIR counts for every later start of the server. */
export async function chooseWalArchive(cluster: Cluster, backupDir: string | undefined): Promise<void> {
  const choice = choicePath(dirname(cluster.dir));
  if (backupDir === undefined) return fs.rmSync(choice, { force: true });
  const { address } = openArchive(cluster, backupDir);
  if (!stores.isBucketAddress(address)) makeFolder(address);
  await stores.writeOnDisk(choice, JSON.stringify({ dir: address }));
}

function makeFolder(dir: string): void {
  try {
    fs.mkdirSync(join(dir, stores.walFolder), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new OperatorError(
      `BACKUP_DIR cannot be used (${(error as Error).message}): use a folder that this user may write to.`,
    );
  }
}

/** With the settings that `archive_command` gets too. */
const openArchive = ({ commandEnvironment }: Cluster, address: string): stores.BackupStore =>
  stores.openStore(
    address,
    readS3Settings(name => commandEnvironment[name]),
  );

function chosenAddress({ dir }: Cluster): string | undefined {
  const path = choicePath(dirname(dir));
  return fs.existsSync(path) ? JSON.parse(fs.readFileSync(path, 'utf8')).dir : undefined;
}

/** A segment is archived when it is full, and a minute after its first commit at the latest. */
export function walArchiveSettings(cluster: Cluster): Record<string, string> {
  const address = chosenAddress(cluster);
  if (address === undefined) return { archive_mode: 'off' };
  return { archive_mode: 'on', archive_command: stores.archiveCommandFor(address), archive_timeout: '60' };
}

/** Where `archive_command` writes, if it is on this machine. */
export function walArchiveFolders(cluster: Cluster): string[] {
  const address = chosenAddress(cluster);
  return address === undefined || stores.isBucketAddress(address) ? [] : [join(address, stores.walFolder)];
}

/**
 * Before the server starts. A failure is printed and the server starts all the same, keeping its WAL until the archive
 * can be written again: a missing backup disk must not stop payments.
 */
export async function prepareWalArchive(cluster: Cluster, print: (line: string) => void): Promise<void> {
  const address = chosenAddress(cluster);
  if (address === undefined) return;
  try {
    const store = openArchive(cluster, address);
    // Root made it, the server writes to it.
    for (const folder of cluster.runAs ? walArchiveFolders(cluster) : []) {
      letPass(address, cluster.runAs);
      fs.chownSync(folder, cluster.runAs!.uid, cluster.runAs!.gid);
    }
    // A restore promotes without an archive, so nobody has archived where its timeline began.
    const pgWal = join(cluster.dir, 'pg_wal');
    for (const name of fs.readdirSync(pgWal).filter(stores.isHistoryName))
      await stores.archiveWal(join(pgWal, name), name, store);
  } catch (error) {
    print(`WAL cannot be archived: ${(error as Error).message}`);
  }
}
