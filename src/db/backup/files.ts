import { createHash, type Hash } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';

export interface FileSum {
  bytes: number;
  sha256: string;
}

const pieceBytes = 1024 * 1024;

export const isMissing = (error: unknown) => (error as NodeJS.ErrnoException)?.code === 'ENOENT';

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

/** Copies what the file has now, and returns when the copy is on disk. */
export async function copyWithSum(
  from: string,
  to: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<FileSum> {
  return withFile(from, 'r', source =>
    withFile(to, 'wx', async target => {
      const sum = await readThrough(source, async piece => {
        await target.writeFile(piece);
        onBytes(piece.length);
      });
      await target.sync();
      return sum;
    }),
  );
}

async function withFile<Result>(
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

export const sumOf = (path: string, onBytes: (bytes: number) => void = () => {}) =>
  withFile(path, 'r', file => readThrough(file, async piece => onBytes(piece.length)));

async function readThrough(source: fs.FileHandle, use: (piece: Buffer) => Promise<void>): Promise<FileSum> {
  const hash: Hash = createHash('sha256');
  // Most files of a server are small.
  const { size } = await source.stat();
  const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, size + 1));
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, bytes);
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    bytes += bytesRead;
    await use(piece);
  }
}

/** Under a temporary name first: nobody ever reads half a file, not even after a power cut. */
export async function writeOnDisk(path: string, content: string | Buffer): Promise<void> {
  const draft = `${path}.draft`;
  await fs.writeFile(draft, content, { mode: 0o600, flush: true });
  await fs.rename(draft, path);
}

/** Names in a folder are on disk only when the folder itself is. */
export const syncFolder = (path: string) => withFile(path, 'r', folder => folder.sync());

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
      try {
        // Links are followed: pg_wal may be one.
        const stats = await fs.stat(join(root, path));
        if (stats.isDirectory()) {
          tree.folders.push(path);
          await visit(path);
        } else if (stats.isFile()) tree.files.push({ path, bytes: stats.size });
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
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
