import { OperatorError } from '../../base/operator-error.ts';
import { type Manifest, manifestName, readManifest } from './manifest.ts';
import type { BackupStore } from './store.ts';

/**
 * What a store of backups has:
 *
 *     base/ID/manifest.json   what the backup consists of, with checksums; its last file
 *     base/ID/data/           the files of the server
 *     base/ID/wal/            the WAL that makes them consistent
 *     base/ID/secret-key.json the sealed secret key, on request
 *     wal/NAME.gz             archived WAL, which leads on from the backups
 *
 * In a folder, a backup that is being made, or being removed, has a name that begins with `unfinished-`. In a bucket it has
 * no manifest.
 */
export const baseFolder = 'base';
export const backupFolder = (id: string) => `${baseFolder}/${id}`;
export const walFolder = 'wal';
export const sealedKeyName = 'secret-key.json';

const isId = (name: string) => /^\d{8}-\d{6}-[0-9a-f]{4}$/.test(name);

/** All complete backups, the oldest first. */
export async function listBackups(store: BackupStore): Promise<Manifest[]> {
  const unfinished = new Set(await listUnfinished(store));
  const ids = (await store.list(baseFolder)).filter(
    name => isId(name) && !unfinished.has(backupFolder(name)),
  );
  const manifests = await Promise.all(ids.map(id => readManifest(store, backupFolder(id))));
  return manifests.sort((left, right) => (left.finished_at < right.finished_at ? -1 : 1));
}

/** The one with this id, or the newest. */
export async function findBackup(store: BackupStore, id?: string): Promise<Manifest> {
  const backups = await listBackups(store);
  const found = id === undefined ? backups.at(-1) : backups.find(backup => backup.id === id);
  if (found) return found;
  const missing = id === undefined ? 'no complete backup' : `no complete backup ${id}`;
  throw new OperatorError(`There is ${missing} in ${store.address}: see kopeck backup list.`);
}

/** What backups and removals that are under way, or were killed, have left. */
export const listUnfinished = (store: BackupStore) => store.drafts.list(baseFolder, manifestName);
