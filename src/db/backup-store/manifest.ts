import { createHash } from 'node:crypto';
import { OperatorError } from '../../base/operator-error.ts';
import type { FileSum } from './files.ts';
import { type BackupStore, readAll } from './store.ts';

/** What a backup is and what it consists of, as `manifest.json` has it. */
export interface Manifest {
  format: 1;
  id: string;
  origin: 'embedded' | 'outside';
  started_at: string;
  finished_at: string;
  postgres_version: string;
  system_identifier: string;
  timeline: number;
  start_lsn: string;
  stop_lsn: string;
  wal_segment_bytes: number;
  /** The first and the last WAL segment that the files need to become consistent. */
  first_wal: string;
  last_wal: string;
  has_secret_key: boolean;
  bytes: number;
  /** Below `data`; also those that are empty. */
  folders: string[];
  files: (FileSum & { path: string })[];
}

export const manifestName = 'manifest.json';

/** The checksum is of the text before it, so that a damaged manifest is noticed too. */
export function formatManifest(manifest: Manifest): Buffer {
  const text = JSON.stringify(manifest, null, 1);
  return Buffer.from(`${text}\n${checksumOf(text)}\n`);
}

export async function readManifest(store: BackupStore, folder: string): Promise<Manifest> {
  const path = `${store.address}/${folder}/${manifestName}`;
  const content = (await readAll(store, `${folder}/${manifestName}`))?.toString();
  if (content === undefined) throw new OperatorError(`${path} is missing: this backup cannot be used.`);
  const end = content.trimEnd().lastIndexOf('\n');
  const text = content.slice(0, Math.max(end, 0));
  if (content.slice(end + 1).trimEnd() !== checksumOf(text))
    throw new OperatorError(`${path} is damaged: this backup cannot be used.`);
  const manifest = JSON.parse(text) as Manifest;
  if (manifest.format !== 1)
    throw new OperatorError(`${path} is of a newer version of Kopeck: use that version.`);
  const outside = [...manifest.files.map(file => file.path), ...manifest.folders].find(isOutside);
  if (outside !== undefined)
    throw new OperatorError(
      `${path} names ${outside}, which is not in the backup: this backup cannot be used.`,
    );
  return manifest;
}

/** A restore would write it elsewhere. The checksum proves only that the manifest is whole, not who wrote it. */
const isOutside = (path: string) => path.split('/').some(part => ['', '.', '..'].includes(part));

const checksumOf = (text: string) => createHash('sha256').update(text).digest('hex');
