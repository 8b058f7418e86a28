import type { Alarms } from '../../alarms/index.ts';
import type { Clock } from '../../base/clock.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { Heartbeat } from '../../db/processes/index.ts';
import type { Sealer } from '../../db/secrets/index.ts';
import type { Gateway } from '../../gateway/index.ts';

/** What recovery and watch of a history need. */
export interface HistoryDeps {
  db: Queryable;
  clock: Clock;
  gateway: Gateway;
  alarms: Alarms;
  references: Sealer;
  heartbeat: Pick<Heartbeat, 'instance'>;
  log: Record<'info' | 'warn' | 'error', (details: object, message: string) => void>;
}
