import { pruneAlarms } from '../alarms/index.ts';
import type { Settings } from '../base/settings.ts';
import { pruneChatUsers } from '../bot/index.ts';
import { pruneMaintenance } from '../controls/index.ts';
import { pruneDailyChanges } from '../db/audit/index.ts';
import { pruneNotices } from '../db/notices/index.ts';
import { pruneBeats } from '../db/processes/index.ts';
import type { Prune } from '../db/retention/index.ts';
import { pruneCalls } from '../gateway/index.ts';
import * as partners from '../partners/index.ts';
import * as payments from '../payments/index.ts';
import { pruneRequestLog } from '../request-log/index.ts';
import { pruneLog } from '../webhooks/index.ts';

type Retentions = Pick<Settings, 'testDataDays' | 'requestLogDays'>;

/** Everything that has a retention. What bounds the other tables: docs/internals/database.md. */
export const createPrunes = ({ testDataDays, requestLogDays }: Retentions): Prune[] => [
  pruneBeats,
  pruneNotices,
  payments.pruneRuns,
  pruneAlarms,
  partners.pruneInvitations,
  partners.pruneKeyAddresses,
  partners.prunePortalLinks,
  partners.prunePortalSessions,
  pruneMaintenance,
  pruneDailyChanges,
  pruneChatUsers,
  payments.pruneKeyTurnovers,
  pruneLog,
  pruneCalls,
  payments.pruneRefusals,
  payments.pruneTraces,
  payments.pruneQuotes,
  (pool, clock) => pruneRequestLog(pool, clock, requestLogDays),
  (pool, clock) => payments.pruneTestData(pool, clock, { keptDays: testDataDays }),
];
