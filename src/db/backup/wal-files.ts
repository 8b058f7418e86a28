import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { OperatorError } from '../../base/operator-error.ts';
import { isMissing, syncFolder } from './files.ts';
import { walFolder } from './layout.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Segments, histories of timelines, and the labels of backups. */
const walName = /^[0-9A-F]{8}(\.history|[0-9A-F]{16}(\.[0-9A-F]{8}\.backup|\.partial)?)$/;

const archivedPath = (dir: string, name: string) => join(walFolder(dir), `${name}.gz`);

/**
 * Copies one WAL file into the archive and returns when it is on disk. A file that is there already is left as it is:
 * PostgreSQL repeats a call whose answer it lost. With other content it is refused: two servers would share the archive.
 * Compressed, since a segment that is archived after a minute may be nearly empty.
 */
export async function archiveWal(source: string, name: string, dir: string): Promise<void> {
  if (!walName.test(name)) throw new OperatorError(`${name} is not the name of a WAL file.`);
  const content = await fs.readFile(source);
  const target = archivedPath(dir, name);
  const draft = `${target}.draft-${randomBytes(4).toString('hex')}`;
  try {
    await fs.writeFile(draft, await compress(content, { level: 1 }), { mode: 0o600, flush: true });
    // Unlike a rename, a link never replaces a file.
    await fs.link(draft, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (isMissing(error))
      throw new OperatorError(
        `There is no folder ${walFolder(dir)}: run kopeck backup once, or mount the disk.`,
      );
    if (code !== 'EEXIST') throw error;
    const archived = await readArchivedWal(dir, name);
    if (!archived?.equals(content))
      throw new OperatorError(
        `${target} has other content: each server needs a folder of backups of its own.`,
      );
  } finally {
    await fs.rm(draft, { force: true });
  }
  await syncFolder(walFolder(dir));
}

/** Undefined if it is not in the archive. */
export async function readArchivedWal(dir: string, name: string): Promise<Buffer | undefined> {
  const path = archivedPath(dir, name);
  let content: Buffer;
  try {
    content = await fs.readFile(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return decompress(content).catch(() => {
    throw new OperatorError(`${path} is damaged.`);
  });
}

/** False if it is not in the archive. */
export async function restoreWal(dir: string, name: string, target: string): Promise<boolean> {
  const content = await readArchivedWal(dir, name);
  if (content) await fs.writeFile(target, content, { mode: 0o600, flush: true });
  return content !== undefined;
}
