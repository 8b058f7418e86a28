import { pruneAlarms } from '../alarms/index.ts';
import type { Settings } from '../base/settings.ts';
import { pruneChatUsers } from '../bot/index.ts';
import { pruneMaintenance } from '../controls/index.ts';
import { pruneNotices } from '../db/notices.ts';
import { pruneBeats } from '../db/process-beats.ts';
import type { Prune } from '../db/prune.ts';
import { pruneCalls } from '../gateway/index.ts';
import { pruneInvitations } from '../partners/index.ts';
import { pruneRefusals, pruneRuns, pruneTestData } from '../payments/index.ts';
import { pruneRequestLog } from '../request-log/index.ts';
import { pruneLog } from '../webhooks/index.ts';

/** Everything that has a retention. What bounds the other tables: docs/internals/database.md. */
export const createPrunes = ({
  testDataDays,
  requestLogDays,
}: Pick<Settings, 'testDataDays' | 'requestLogDays'>): Prune[] => [
  pruneBeats,
  pruneLog,
  pruneNotices,
  pruneCalls,
  pruneRefusals,
  pruneRuns,
  pruneAlarms,
  pruneInvitations,
  pruneMaintenance,
  pruneChatUsers,
  (pool, clock) => pruneRequestLog(pool, clock, requestLogDays),
  (pool, clock) => pruneTestData(pool, clock, { keptDays: testDataDays }),
];
