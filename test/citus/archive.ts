import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Beside the checkout, for the embedded PostgreSQL of one platform only. */
const sharedArchive = join(import.meta.dirname, '../../../shared/citus/citus-14-pg18.tar.gz');
const sharedPlatform = 'linux-x64';

function findArchive(): string | undefined {
  const chosen = process.env.CITUS_ARCHIVE;
  if (chosen && !existsSync(chosen)) throw new Error(`CITUS_ARCHIVE: there is no file ${chosen}`);
  if (chosen) return chosen;
  const isSuitable = `${process.platform}-${process.arch}` === sharedPlatform && existsSync(sharedArchive);
  return isSuitable ? sharedArchive : undefined;
}

/** Citus for the embedded PostgreSQL of this machine; undefined if there is none. */
export const citusArchive = findArchive();
