import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';
import { isMissing } from './files.ts';
import { type Manifest, readManifest } from './manifest.ts';

/**
 * A folder of backups:
 *
 *     base/ID/manifest.json   what the backup consists of, with checksums
 *     base/ID/data/           the files of the server
 *     base/ID/wal/            the WAL that makes them consistent
 *     base/ID/secret-key.json the sealed secret key, on request
 *     wal/NAME.gz             archived WAL, which leads on from the backups
 *
 * A backup that is being made, or being removed, has a name that begins with `unfinished-`.
 */
export const baseFolder = (dir: string) => join(dir, 'base');
export const backupFolder = (dir: string, id: string) => join(dir, 'base', id);
export const walFolder = (dir: string) => join(dir, 'wal');
export const sealedKeyName = 'secret-key.json';

const unfinished = 'unfinished-';
export const unfinishedFolder = (dir: string, id: string) => join(dir, 'base', unfinished + id);

const isId = (name: string) => /^\d{8}-\d{6}-[0-9a-f]{4}$/.test(name);

/** All complete backups, the oldest first. */
export async function listBackups(dir: string): Promise<Manifest[]> {
  const names = (await readNames(baseFolder(dir))).filter(isId);
  const manifests = await Promise.all(names.map(id => readManifest(backupFolder(dir, id))));
  return manifests.sort((left, right) => (left.finished_at < right.finished_at ? -1 : 1));
}

/** The one with this id, or the newest. */
export async function findBackup(dir: string, id?: string): Promise<Manifest> {
  const backups = await listBackups(dir);
  const found = id === undefined ? backups.at(-1) : backups.find(backup => backup.id === id);
  if (found) return found;
  const missing = id === undefined ? 'no complete backup' : `no complete backup ${id}`;
  throw new OperatorError(`There is ${missing} in ${dir}: see kopeck backup list.`);
}

/** What backups and removals that were killed have left. */
export const listUnfinished = async (dir: string) =>
  (await readNames(baseFolder(dir)))
    .filter(name => name.startsWith(unfinished))
    .map(name => join(baseFolder(dir), name));

export async function readNames(folder: string): Promise<string[]> {
  try {
    return await fs.readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
