import { pruneAlarms } from '../alarms/index.ts';
import type { Settings } from '../base/settings.ts';
import { pruneChatUsers } from '../bot/index.ts';
import { pruneMaintenance } from '../controls/index.ts';
import { pruneDailyChanges } from '../db/audit/index.ts';
import { pruneNotices } from '../db/notices/index.ts';
import { pruneBeats } from '../db/processes/index.ts';
import type { Prune } from '../db/retention/index.ts';
import { pruneCalls } from '../gateway/index.ts';
import {
  pruneInvitations,
  pruneKeyAddresses,
  prunePortalLinks,
  prunePortalSessions,
} from '../partners/index.ts';
import {
  pruneKeyTurnovers,
  pruneQuotes,
  pruneRefusals,
  pruneRuns,
  pruneTestData,
  pruneTraces,
} from '../payments/index.ts';
import { pruneRequestLog } from '../request-log/index.ts';
import { pruneLog } from '../webhooks/index.ts';

type Retentions = Pick<Settings, 'testDataDays' | 'requestLogDays'>;

/** Everything that has a retention. What bounds the other tables: docs/internals/database.md. */
export const createPrunes = ({ testDataDays, requestLogDays }: Retentions): Prune[] => [
  pruneBeats,
  pruneNotices,
  pruneRuns,
  pruneAlarms,
  pruneInvitations,
  pruneKeyAddresses,
  prunePortalLinks,
  prunePortalSessions,
  pruneMaintenance,
  pruneDailyChanges,
  pruneChatUsers,
  pruneKeyTurnovers,
  pruneLog,
  pruneCalls,
  pruneRefusals,
  pruneTraces,
  pruneQuotes,
  (pool, clock) => pruneRequestLog(pool, clock, requestLogDays),
  (pool, clock) => pruneTestData(pool, clock, { keptDays: testDataDays }),
];
