import { askArchiveWorkers } from '../../payments/index.ts';
import { bad, type Check, ok } from './finding.ts';

export const archiveCheck: Record<string, Check> = {
  archive: async (_settings, { pool }) => {
    const workers = await askArchiveWorkers(pool);
    if (workers.length === 0) return ok('on this server');
    const silent = workers.filter(({ isReachable }) => !isReachable).map(({ node }) => node);
    return silent.length === 0
      ? ok(`on ${workers.length} workers: ${workers.map(({ node }) => node).join(', ')}`)
      : bad(
          `the worker ${silent.join(', ')} does not answer, so reads of old payments get 503: start it (docs/operations/history-on-citus.md)`,
        );
  },
};
