import type { Alarms } from '../alarms/index.ts';
import type { PoolAndClock } from '../db/index.ts';
import type { Heartbeat } from '../db/processes/index.ts';
import { type ArchiveWatch, watchArchiveWorkers } from '../payments/index.ts';

/** Looks at the workers that have the archive, and keeps the alarm of each. */
export const startArchiveWatch = (
  { pool, clock }: PoolAndClock,
  alarms: Alarms,
  { isDatabaseAnswering }: Pick<Heartbeat, 'isDatabaseAnswering'>,
): ArchiveWatch =>
  watchArchiveWorkers({
    db: pool,
    clock,
    isDatabaseAnswering,
    onState: (node, isReachable) =>
      void (isReachable
        ? alarms.clear('archive_unreachable', node)
        : alarms.raise({
            kind: 'archive_unreachable',
            subject: node,
            detail:
              'The worker does not answer: reads of archived payments that it has get 503 until it does.',
          })),
  });
