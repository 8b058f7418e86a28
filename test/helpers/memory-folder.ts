import { existsSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';

const memory = '/dev/shm';
const neededBytes = 4 * 2 ** 30;

/**
 * The folder for temporary files: in memory where there is enough, since database servers make many small files and
 * wait for the disk at every commit.
 */
export function temporaryFolder(): string {
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return Math.min(bavail * bsize, freemem()) >= neededBytes ? memory : tmpdir();
}
