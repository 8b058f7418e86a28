/**
 * Which processes of the service run: each has a number under a lock, and commits beats. What is taken over of a dead one is decided
 * by the owners of the leases; starting and stopping is in `src/runtime/`.
 */
export { type Heartbeat, startHeartbeat } from './heartbeat.ts';
export { findDeadHolders, pauseUntilDue } from './lease-holders.ts';
export { type LiveProcess, listLiveProcesses } from './live-processes.ts';
export { pruneBeats } from './process-beats.ts';
