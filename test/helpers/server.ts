import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The process number of the embedded PostgreSQL in this folder. */
export const serverPid = (dataDir: string) =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
