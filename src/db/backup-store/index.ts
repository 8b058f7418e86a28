/**
 * Where backups and archived WAL are: a folder or a bucket, its layout, its files, and what PostgreSQL runs to copy WAL there and
 * back. It needs no database. Taking, checking and restoring backups is in `src/db/backup/`.
 */
export {
  forEachFile,
  ifThere,
  listTree,
  type OnBytes,
  type Pieces,
  readNames,
  readPieces,
  summed,
  sumOf,
  syncFolder,
  type Tree,
  withFileErrors,
  writeNew,
  writeOnDisk,
} from './files.ts';
export { openFolderStore } from './folder-store.ts';
export { backupFolder, findBackup, listBackups, listUnfinished, sealedKeyName, walFolder } from './layout.ts';
export { formatManifest, type Manifest, manifestName } from './manifest.ts';
export { openStore } from './open-store.ts';
export { isBucketAddress } from './s3/bucket.ts';
export { megabytes, requireSpace } from './space.ts';
export { type BackupStore, readAll } from './store.ts';
export { archiveCommandFor, restoreCommandFor } from './wal-commands.ts';
export { archiveWal, readArchivedWal } from './wal-files.ts';
export {
  formatLsn,
  isHistoryName,
  isSegmentName,
  parseLsn,
  parseSegment,
  segmentAt,
  segmentName,
} from './wal-names.ts';
