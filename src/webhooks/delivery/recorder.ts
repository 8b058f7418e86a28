import type { Clock } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import {
  createBatcher,
  findLockedRows,
  type LockWait,
  lockTimeoutLanes,
  lockTimeoutOf,
  setsLockTimeout,
} from '../../db/batching/index.ts';
import { columnsOf, isItemError, type Queryable, retryOnDeadlock } from '../../db/postgres/index.ts';
import type { Payment } from '../../payments/index.ts';
import { subjectOf } from '../first-endpoint.ts';
import { releaseHeld } from './test-mode.ts';

export interface AttemptResult extends Pick<Payment, 'partnerId' | 'mode'> {
  endpointId: Id<'whe'>;
  eventId: bigint;
  attempt: number;
  isDelivered: boolean;
  /** It failed, and only after a long time. */
  hasHung: boolean;
  status: number | null;
  error: string | null;
  /** The beginning of the body of a refusal. */
  responseBody: string | null;
  durationMs: number;
  /** When to try again; null when it was delivered or is given up. */
  nextAt: Date | null;
  at: Date;
}

export interface RecorderDeps {
  db: Queryable;
  clock: Clock;
  log: { error(details: object, message: string): void; warn(details: object, message: string): void };
}

const suspension = {
  kind: 'webhook_suspended',
  detail:
    'Three events in a row were not delivered. Webhooks are suspended until a check of the endpoint succeeds.',
};

/** So that a batch holds many results, and a statement costs little per attempt. */
const gatherMs = 10;
const maxWaiting = 5_000;

/** Records results in batches. The statement itself stores the alarm of a suspension; here it is only logged. */
export function createRecorder({ db, clock, log }: RecorderDeps) {
  return createBatcher<AttemptResult, true>({
    isItemError,
    maxBatch: 256,
    maxWaiting,
    gather: () => clock.sleep(gatherMs),
    ownLanes: {
      ...lockTimeoutLanes(clock),
      keyOf: ({ endpointId }) => endpointId,
      findLocked: results =>
        findLockedRows(db, results, 'endpoints', [
          ['endpoint_id', 'uuid', ({ endpointId }) => uuidFromId(endpointId)],
        ]),
      maxWaitingApart: maxWaiting,
    },
    run: async (results, lockWait) => {
      const suspended = await retryOnDeadlock(() => recordAttempts(db, results, suspension.detail, lockWait));
      for (const subject of suspended) log.warn({ ...suspension, subject }, 'alarm');
      const inTestMode = results.filter(({ mode }) => mode === 'test');
      if (inTestMode.length > 0)
        await releaseHeld(db, clock, inTestMode).catch(err =>
          log.error({ err }, 'a held-back event could not be released'),
        );
      return results.map(() => true as const);
    },
  });
}

/** Records attempts; returns to whom sending is suspended by this, with an alarm. */
export async function recordAttempts(
  db: Queryable,
  results: Omit<AttemptResult, 'mode'>[],
  alarmDetail: string,
  lockWait: LockWait = 'long',
): Promise<string[]> {
  const { rows } = await db.query<{ endpoint: string }>({
    name: 'deliveries_end',
    text: `SELECT endpoint_id AS endpoint
             FROM ${setsLockTimeout('$14', '$13::text')},
                  deliveries_end($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, call.argument)`,
    values: [
      results.map(result => uuidFromId(result.endpointId)),
      ...columnsOf(results, 'eventId', 'attempt', 'isDelivered', 'hasHung', 'status', 'error'),
      ...columnsOf(results, 'responseBody', 'durationMs', 'nextAt', 'at'),
      results.map(subjectOf),
      alarmDetail,
      lockTimeoutOf(lockWait),
    ],
  });
  const suspended = new Set(rows.map(row => idFromUuid('whe', row.endpoint)));
  return [...new Set(results.filter(({ endpointId }) => suspended.has(endpointId)).map(subjectOf))];
}
