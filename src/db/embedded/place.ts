import { statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Where the files of an embedded server are: a copied folder has another inode or another birth time, a renamed one has
 * the same. A snapshot of a whole disk looks like the original: its operator says `--restored`.
 */
export function fileIdentity(serverDir: string): string {
  const { ino, birthtimeNs } = statSync(join(serverDir, 'PG_VERSION'), { bigint: true });
  return `${ino}/${birthtimeNs}`;
}
