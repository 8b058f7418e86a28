import * as fs from 'node:fs/promises';
import { OperatorError } from '../../base/operator-error.ts';

export const megabytes = (bytes: number) => Math.ceil(bytes / 1_000_000);

/** Refuses before anything is written, instead of filling the disk. */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await fs.statfs(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new OperatorError(
    `${folder} has ${megabytes(free)} MB free and needs ${megabytes(bytes)} MB: free some space, or use another folder.`,
  );
}
