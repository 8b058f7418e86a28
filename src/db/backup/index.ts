/**
 * Takes, chooses, checks, restores and removes backups, of the embedded server and of any other, and says whether WAL is being
 * archived. Where they are kept is in `src/db/backup-store/`.
 */
export { guide } from './backup-session.ts';
export { takeBackup } from './base-backup.ts';
export { checkFiles } from './check-files.ts';
export { chooseBackup } from './choose.ts';
export { requireEmpty, restoreBackup } from './restore.ts';
export { removeOldBackups } from './retention.ts';
export { sealSecretKey, unsealSecretKey } from './sealed-key.ts';
export { describeNotArchived, readWalArchiving } from './wal-archiving.ts';
export { findChain, type WalChain } from './wal-chain.ts';
