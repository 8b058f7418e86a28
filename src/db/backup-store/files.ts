import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';

export type Pieces = AsyncIterable<Buffer> | Iterable<Buffer>;
export type OnBytes = (bytes: number) => void;

export interface FileSum {
  bytes: number;
  sha256: string;
}

const pieceBytes = 1024 * 1024;

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException)?.code === 'ENOENT';

/** Undefined if there is no such file. */
export const ifThere = <Result>(work: Promise<Result>): Promise<Result | undefined> =>
  work.catch(error => {
    if (isMissing(error)) return undefined;
    throw error;
  });

/** Turns an error of a file, such as a full disk or a missing right, into one line; it is not one of the database. */
export async function withFileErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { code, path, syscall } = error as NodeJS.ErrnoException;
    if (error instanceof OperatorError || code === undefined || path === undefined || syscall === undefined)
      throw error;
    const reason = code === 'ENOSPC' ? 'the disk is full' : code;
    throw new OperatorError(`${path} cannot be used (${syscall}: ${reason}): check the folder and repeat.`);
  }
}

export async function withFile<Result>(
  path: string,
  flags: 'r' | 'wx',
  work: (file: fs.FileHandle) => Promise<Result>,
): Promise<Result> {
  const file = await fs.open(path, flags, 0o600);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** What the file has now. Each piece is valid until the next one is read. */
export async function* readPieces(source: fs.FileHandle): AsyncGenerator<Buffer> {
  // Most files of a server are small.
  const { size } = await source.stat();
  const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, size + 1));
  for (let at = 0; ; ) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The same pieces, and the sum of those that were read. */
export function summed(pieces: Pieces, onBytes: OnBytes = () => {}) {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* pass(): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      onBytes(piece.length);
      yield piece;
    }
  }
  return { pieces: pass(), sum: (): FileSum => ({ bytes, sha256: hash.digest('hex') }) };
}

export async function sumOf(pieces: Pieces, onBytes?: OnBytes): Promise<FileSum> {
  const passing = summed(pieces, onBytes);
  for await (const _piece of passing.pieces);
  return passing.sum();
}

/** Under a temporary name first: nobody ever reads half a file, not even after a power cut. */
export async function writeOnDisk(path: string, content: string | Buffer): Promise<void> {
  const draft = `${path}.draft`;
  await fs.writeFile(draft, content, { mode: 0o600, flush: true });
  await fs.rename(draft, path);
}

/**
 * A file of its owner alone, which is there as a whole or not at all. False if there is one already: of several processes one
 * wins, and none reads half of it.
 */
export async function writeNew(path: string, content: string | Buffer): Promise<boolean> {
  const draft = `${path}.draft-${randomBytes(4).toString('hex')}`;
  let isNew = true;
  try {
    await fs.writeFile(draft, content, { mode: 0o600, flush: true });
    // Unlike a rename, a link never replaces a file.
    await fs.link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    isNew = false;
  } finally {
    await fs.rm(draft, { force: true });
  }
  await syncFolder(dirname(path));
  return isNew;
}

/** Names in a folder are on disk only when the folder itself is. */
export const syncFolder = (path: string) => withFile(path, 'r', folder => folder.sync());

/** None if there is no such folder. */
export const readNames = async (folder: string) => (await ifThere(fs.readdir(folder))) ?? [];

export interface Tree {
  /** Relative paths; parents come before what is in them. */
  folders: string[];
  files: { path: string; bytes: number }[];
}

/** All folders and plain files below `root`, except those that `isSkipped`; what vanishes meanwhile is left out. */
export async function listTree(root: string, isSkipped: (path: string) => boolean): Promise<Tree> {
  const tree: Tree = { folders: [], files: [] };
  async function visit(folder: string): Promise<void> {
    const entries = await fs.readdir(join(root, folder), { withFileTypes: true });
    for (const { name } of entries) {
      const path = folder ? `${folder}/${name}` : name;
      if (isSkipped(path)) continue;
      // Links are followed: pg_wal may be one.
      const stats = await ifThere(fs.stat(join(root, path)));
      if (stats?.isDirectory()) {
        tree.folders.push(path);
        await ifThere(visit(path));
      } else if (stats?.isFile()) tree.files.push({ path, bytes: stats.size });
    }
  }
  await visit('');
  return tree;
}

const filesAtOnce = 8;

/** Several files at once: most of the time goes into waiting for the disk. The first failure ends it. */
export async function forEachFile<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let hasFailed = false;
  async function run(): Promise<void> {
    for (let next = rest.next(); !next.done && !hasFailed; next = rest.next()) {
      try {
        await work(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  }
  const runs = await Promise.allSettled(Array.from({ length: filesAtOnce }, run));
  for (const result of runs) if (result.status === 'rejected') throw result.reason;
}
