import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Beside the checkout, for the embedded PostgreSQL of these platforms. */
const sharedArchives: Record<string, string> = {
  'linux-x64': 'citus-14-pg18.tar.gz',
  'linux-arm64': 'citus-14-pg18-arm64.tar.gz',
};

function findArchive(): string | undefined {
  const chosen = process.env.CITUS_ARCHIVE;
  if (chosen && !existsSync(chosen)) throw new Error(`CITUS_ARCHIVE: there is no file ${chosen}`);
  if (chosen) return chosen;
  const name = sharedArchives[`${process.platform}-${process.arch}`];
  const shared = name && join(import.meta.dirname, '../../../shared/citus', name);
  return shared && existsSync(shared) ? shared : undefined;
}

/** Citus for the embedded PostgreSQL of this machine; undefined if there is none. */
export const citusArchive = findArchive();
