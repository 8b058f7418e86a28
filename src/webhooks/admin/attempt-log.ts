import type { Clock } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { type Pool, type Queryable, readRows, withIds } from '../../db/postgres/index.ts';
import { keepPartitions, pruneOlder } from '../../db/retention/index.ts';
import type { AccountKey } from '../../ledger/index.ts';

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

const attemptColumns = `a.event_id AS "eventId", a.endpoint_id AS "endpointId", a.attempt, a.at, a.status, a.error,
  a.duration_ms AS "durationMs"`;

/** The last attempts, newest first; with `before`, those older than that attempt; with `endpointId`, those of this endpoint. */
export async function listAttempts(
  db: Queryable,
  partnerId: Id<'prt'>,
  limit: number,
  { before, endpointId }: { before?: bigint | undefined; endpointId?: Id<'whe'> | undefined } = {},
): Promise<Attempt[]> {
  const ofEndpoint = endpointId ? 'AND endpoint_id = $4' : '';
  const rows = await readRows(db, {
    text: `SELECT a.id AS "attemptId", ${attemptColumns}, e.payment_id AS "paymentId"
             FROM (SELECT * FROM webhook_attempts WHERE partner_id = $1 AND ($3::bigint IS NULL OR id < $3) ${ofEndpoint}
                    ORDER BY id DESC LIMIT $2) AS a
            CROSS JOIN LATERAL (SELECT e.* FROM unnest('{live,test}'::mode[]) AS m (mode),
                                        deliverable_event($1, m.mode, a.event_id) AS e LIMIT 1) AS e
            ORDER BY a.id DESC`,
    values: [uuidFromId(partnerId), limit, before ?? null, ...(endpointId ? [uuidFromId(endpointId)] : [])],
  });
  return rows.map(withIds<Attempt>({ endpointId: 'whe', paymentId: 'pay' }));
}

const keptDays = 30;

/** Removes attempts older than thirty days, and deliveries that were given up before. Returns how many rows it deleted. */
export async function pruneLog(pool: Pool, clock: Clock): Promise<number> {
  const givenUp = await pruneOlder(pool, clock, { table: 'deliveries', since: 'failed_at', keptDays });
  return givenUp + (await keepPartitions(pool, clock, { table: 'webhook_attempts', since: 'at', keptDays }));
}

export type DeliveryHistory = NonNullable<Awaited<ReturnType<typeof deliveryHistory>>>;

const maxAttempts = 100;

/** The event of a payment with its delivery attempts. Undefined while the payment is processing. */
export async function deliveryHistory(
  db: Queryable,
  { partnerId, mode, paymentId }: AccountKey & { paymentId: Id<'pay'> },
) {
  const { rows } = await db.query<{
    id: bigint;
    at: Date;
    endpoint: string | null;
    attempts: number | null;
    next_at: Date;
    failed_at: Date | null;
  }>({
    text: `SELECT e.id, e.at, d.endpoint_id AS endpoint, d.attempts, d.next_at, d.failed_at
             FROM event_of_payment($2, $3, $1) e
             LEFT JOIN deliveries d ON d.partner_id = e.partner_id AND d.event_id = e.id
            ORDER BY d.endpoint_id <> e.partner_id, d.endpoint_id`,
    values: [uuidFromId(paymentId), uuidFromId(partnerId), mode],
  });
  const [event] = rows;
  if (!event) return undefined;
  return {
    eventId: event.id,
    at: event.at,
    /** Oldest first; those of the last thirty days. */
    attempts: await attemptsOf(db, partnerId, event.id),
    /** Still to be sent, or given up, by endpoint. Empty when it was delivered or the partner has no webhook. */
    deliveries: rows.flatMap(({ endpoint, attempts, next_at: nextAt, failed_at: failedAt }) =>
      attempts === null ? [] : { endpointId: idFromUuid('whe', endpoint!), attempts, nextAt, failedAt },
    ),
  };
}

export type EventAttempt = Omit<Attempt, 'attemptId' | 'paymentId'>;
/** Bodies are read only where they are shown. */
type AttemptWithBody = EventAttempt & { responseBody: string | null };

/** Oldest first. */
export const attemptsOf = (db: Queryable, partnerId: Id<'prt'>, eventId: bigint) =>
  readAttempts<EventAttempt>(db, attemptColumns, { partnerId, eventId });

/** The same, of one endpoint and with what it answered. */
export const attemptsAt = (
  db: Queryable,
  of: { partnerId: Id<'prt'>; eventId: bigint; endpointId: Id<'whe'> },
) => readAttempts<AttemptWithBody>(db, `${attemptColumns}, a.response_body AS "responseBody"`, of);

async function readAttempts<Row extends EventAttempt>(
  db: Queryable,
  columns: string,
  { partnerId, eventId, endpointId }: { partnerId: Id<'prt'>; eventId: bigint; endpointId?: Id<'whe'> },
): Promise<Row[]> {
  const ofEndpoint = endpointId ? 'AND endpoint_id = $3' : '';
  const rows = await readRows(db, {
    text: `SELECT ${columns} FROM webhook_attempts a WHERE event_id = $1 AND partner_id = $2 ${ofEndpoint}
            ORDER BY id LIMIT ${maxAttempts}`,
    values: [eventId, uuidFromId(partnerId), ...(endpointId ? [uuidFromId(endpointId)] : [])],
  });
  return rows.map(withIds<EventAttempt>({ endpointId: 'whe' })) as Row[];
}
