/**
 * Which history a database has (its incarnation): a process joins one, every connection is checked against it, and a newer one is
 * noticed. What is rebuilt after a loss is in `src/payments/lost-history/`.
 */
export { createIncarnationGuard } from './guard.ts';
export type { Identity } from './identity.ts';
export { joinIncarnation } from './join.ts';
export { createNewestHistory, type NewestHistory, type SeenHistories } from './newest-history.ts';
export { type IncarnationWatch, watchIncarnation } from './watch.ts';
