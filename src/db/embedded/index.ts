/**
 * The embedded server: its programs, folder, user, start, stop and WAL archive, and what a restore leaves in its folder. A server of
 * `DATABASE_URL` needs none of this; how either is used is in `src/db/postgres/`.
 */
export { findBinaries } from './binaries.ts';
export { type Cluster, findServer, startServer, stopServer } from './cluster.ts';
export { explain } from './explain.ts';
export { identityFor } from './identity.ts';
export {
  hasRestoredMark,
  refuseUnfinishedRestore,
  removeRestoredMark,
  restoredMarkPath,
  unfinishedRestoreIn,
  writeRestoredMark,
} from './restore-marks.ts';
export { connect, openEmbedded } from './server.ts';
