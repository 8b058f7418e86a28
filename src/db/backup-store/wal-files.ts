import * as fs from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { OperatorError } from '../../base/operator-error.ts';
import { walFolder } from './layout.ts';
import { type BackupStore, readAll } from './store.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Segments, histories of timelines, and the labels of backups. */
const walName = /^[0-9A-F]{8}(\.history|[0-9A-F]{16}(\.[0-9A-F]{8}\.backup|\.partial)?)$/;

const archivedPath = (name: string) => `${walFolder}/${name}.gz`;

/**
 * Copies one WAL file into the archive and returns when it is on disk. A file that is there already is left as it is:
 * PostgreSQL repeats a call whose answer it lost. With other content it is refused: two servers would share the archive.
 * Compressed, since a segment that is archived after a minute may be nearly empty.
 */
export async function archiveWal(source: string, name: string, store: BackupStore): Promise<void> {
  if (!walName.test(name)) throw new OperatorError(`${name} is not the name of a WAL file.`);
  const content = await fs.readFile(source);
  if (await store.writeNew(archivedPath(name), await compress(content, { level: 1 }))) return;
  const archived = await readArchivedWal(store, name);
  if (!archived?.equals(content))
    throw new OperatorError(
      `${store.address}/${archivedPath(name)} has other content: each server needs its own backup folder.`,
    );
}

/** Undefined if it is not in the archive. */
export async function readArchivedWal(store: BackupStore, name: string): Promise<Buffer | undefined> {
  const path = archivedPath(name);
  const content = await readAll(store, path);
  if (content === undefined) return undefined;
  return decompress(content).catch(() => {
    throw new OperatorError(`${store.address}/${path} is damaged.`);
  });
}

/** False if it is not in the archive. */
export async function restoreWal(store: BackupStore, name: string, target: string): Promise<boolean> {
  const content = await readArchivedWal(store, name);
  if (content) await fs.writeFile(target, content, { mode: 0o600, flush: true });
  return content !== undefined;
}
