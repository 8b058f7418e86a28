/**
 * The embedded server: its programs, folder, user, start, stop and WAL archive. A server of `DATABASE_URL` needs none of this; how
 * either is used is in `src/db/postgres/`.
 */
export { findBinaries } from './binaries.ts';
export { type Cluster, findServer, startServer, stopServer, superuser } from './cluster.ts';
export { explain } from './explain.ts';
export { identityFor } from './identity.ts';
export { hasRestoredMark, removeRestoredMark, restoredMarkPath, writeRestoredMark } from './restored-mark.ts';
export { openEmbedded } from './server.ts';
export { refuseUnfinishedRestore, unfinishedRestoreIn } from './unfinished-restore.ts';
