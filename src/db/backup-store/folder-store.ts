import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';
import {
  ifThere,
  listTree,
  type Pieces,
  readNames,
  readPieces,
  syncFolder,
  withFile,
  writeNew,
  writeOnDisk,
} from './files.ts';
import { walFolder } from './layout.ts';
import { requireSpace } from './space.ts';
import type { BackupStore, Drafts } from './store.ts';

export function openFolderStore(root: string): BackupStore {
  const at = (path: string) => join(root, path);

  async function* read(path: string): AsyncGenerator<Buffer> {
    const file = await fs.open(at(path), 'r');
    try {
      yield* readPieces(file);
    } finally {
      await file.close();
    }
  }

  return {
    address: root,
    environment: {},
    list: folder => readNames(at(folder)),
    find: async path => {
      const stats = await ifThere(fs.stat(at(path)));
      return stats && { modifiedAt: stats.mtime };
    },
    read,
    copyTo: (path, target) => fs.copyFile(at(path), target, constants.COPYFILE_FICLONE),
    write: (path, pieces) => writeFile(at(path), pieces),
    writeNew: (path, content) =>
      writeNew(at(path), content).catch(error => {
        if (error.code !== 'ENOENT') throw error;
        throw new OperatorError(
          `There is no folder ${dirname(at(path))}: make it (for backups, kopeck backup does), or mount the disk.`,
        );
      }),
    remove: path => fs.rm(at(path), { force: true }),
    removeFolder: folder => fs.rm(at(folder), { recursive: true, force: true }),
    drafts: createDrafts(root, at),
  };
}

const unfinished = 'unfinished-';

/** A draft is renamed when all of it is on disk. */
function createDrafts(root: string, at: (path: string) => string): Drafts {
  const pathOf = (folder: string) => join(dirname(folder), unfinished + basename(folder));
  return {
    pathOf,
    list: async parent =>
      (await readNames(at(parent)))
        .filter(name => name.startsWith(unfinished))
        .map(name => join(parent, name)),
    begin: async (folder, { folders, bytes }) => {
      await fs.mkdir(at(dirname(folder)), { recursive: true, mode: 0o700 });
      // `archive-wal` does not make this folder: it cannot know whether the disk is mounted.
      await fs.mkdir(at(walFolder), { recursive: true, mode: 0o700 });
      await requireSpace(root, bytes);
      for (const each of ['', ...folders]) await fs.mkdir(join(at(pathOf(folder)), each), { mode: 0o700 });
    },
    complete: async (folder, lastFile, content) => {
      const draft = at(pathOf(folder));
      await writeOnDisk(join(draft, lastFile), content);
      const { folders } = await listTree(draft, () => false);
      for (const each of ['', ...folders]) await syncFolder(join(draft, each));
      await fs.rename(draft, at(folder));
      await syncFolder(at(dirname(folder)));
    },
    reopen: folder => fs.rename(at(folder), at(pathOf(folder))),
  };
}

const writeFile = (path: string, pieces: Pieces) =>
  withFile(path, 'wx', async target => {
    for await (const piece of pieces) await target.writeFile(piece);
    await target.sync();
  });
