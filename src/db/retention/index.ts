/**
 * How old rows leave: deleted in small steps, or with their partition, and the loop that does it. Which table keeps what for how
 * long is said where the table is written; the archive of payments is in `src/payments/`.
 */
export { keepPartitions } from './partitions.ts';
export { oldestKept, type Prune, pruneOlder, startPruning } from './prune.ts';
