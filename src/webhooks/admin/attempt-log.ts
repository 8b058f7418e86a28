import type { Clock } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import type { Pool, Queryable } from '../../db/postgres/index.ts';
import { keepPartitions, pruneOlder } from '../../db/retention/index.ts';

export interface Attempt {
  attemptId: bigint;
  eventId: bigint;
  endpointId: Id<'whe'>;
  paymentId: Id<'pay'>;
  attempt: number;
  at: Date;
  status: number | null;
  error: string | null;
  durationMs: number;
}

/** The last attempts, newest first; with `before`, those older than that attempt; with `endpointId`, those of this endpoint. */
export async function listAttempts(
  db: Queryable,
  partnerId: Id<'prt'>,
  limit: number,
  { before, endpointId }: { before?: bigint | undefined; endpointId?: Id<'whe'> | undefined } = {},
): Promise<Attempt[]> {
  const ofEndpoint = endpointId ? 'AND endpoint_id = $4' : '';
  const { rows } = await db.query<
    Omit<Attempt, 'paymentId' | 'endpointId'> & { payment_id: string; endpoint: string }
  >({
    text: `SELECT a.id AS "attemptId", a.event_id AS "eventId", a.attempt, a.at, a.status, a.error,
                  a.duration_ms AS "durationMs", a.endpoint_id AS endpoint, e.payment_id
             FROM (SELECT * FROM webhook_attempts WHERE partner_id = $1 AND ($3::bigint IS NULL OR id < $3) ${ofEndpoint}
                    ORDER BY id DESC LIMIT $2) AS a
            CROSS JOIN LATERAL (SELECT e.* FROM unnest('{live,test}'::mode[]) AS m (mode),
                                        deliverable_event($1, m.mode, a.event_id) AS e LIMIT 1) AS e
            ORDER BY a.id DESC`,
    values: [uuidFromId(partnerId), limit, before ?? null, ...(endpointId ? [uuidFromId(endpointId)] : [])],
  });
  return rows.map(({ payment_id, endpoint, ...attempt }) => ({
    ...attempt,
    endpointId: idFromUuid('whe', endpoint),
    paymentId: idFromUuid('pay', payment_id),
  }));
}

const keptDays = 30;

/** Removes attempts older than thirty days, and deliveries that were given up before. Returns how many rows it deleted. */
export async function pruneLog(pool: Pool, clock: Clock): Promise<number> {
  const givenUp = await pruneOlder(pool, clock, { table: 'deliveries', since: 'failed_at', keptDays });
  return givenUp + (await keepPartitions(pool, clock, { table: 'webhook_attempts', since: 'at', keptDays }));
}
