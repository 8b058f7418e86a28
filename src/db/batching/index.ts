/**
 * Many calls as one statement: the batcher, reads that callers share, and lanes of their own for items whose rows are locked. Which
 * statement that is, and what its answers mean, is the caller's.
 */
export { BatcherFullError, type BatchObserver, createBatcher, whileOthersJoin } from './batch.ts';
export { findLockedRows, lockTimeoutLanes, lockTimeoutOf, setsLockTimeout } from './lock-wait.ts';
export type { LockWait } from './own-lanes.ts';
export { sharedRead } from './shared-read.ts';
