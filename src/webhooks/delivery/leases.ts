import type { Clock } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { EndpointTables } from '../endpoint-tables.ts';

/**
 * An endpoint's deliveries are sent by the one process that holds its lease. A holder that hangs loses the lease when it
 * expires; that of a dead holder can be taken at once.
 */

interface AcquireOptions {
  instance: number;
  /** Holders known to be dead. */
  deadHolders: number[];
  leaseMs: number;
  limit: number;
}

export interface Acquired {
  endpoints: Id<'whe'>[];
  /** When the first delivery of any endpoint is or was due; undefined if there is none. */
  firstDueMs: number | undefined;
}

/**
 * Takes leases of endpoints with something due that no other process holds, or whose holder is dead. It takes half of
 * them at a time, so that processes that ask at the same moment get their share.
 */
export async function acquireLeases(
  db: Queryable,
  clock: Clock,
  { webhooks, deliveries, key, suffix }: EndpointTables,
  { instance, deadHolders, leaseMs, limit }: AcquireOptions,
): Promise<Acquired> {
  const nowMs = clock.nowMs();
  const { rows } = await db.query<{ endpoint: string | null; first_due: Date | null }>({
    name: `acquire webhook leases${suffix}`,
    // Steps from one endpoint with deliveries to the next along the index: endpoints without any cost nothing.
    text: `WITH RECURSIVE waiting AS (
             (SELECT ${key} FROM ${deliveries} WHERE failed_at IS NULL ORDER BY ${key} LIMIT 1)
             UNION ALL
             SELECT (SELECT d.${key} FROM ${deliveries} d WHERE d.failed_at IS NULL AND d.${key} > w.${key}
                      ORDER BY d.${key} LIMIT 1)
               FROM waiting w WHERE w.${key} IS NOT NULL),
           due AS (
             SELECT c.${key} FROM waiting JOIN ${webhooks} c USING (${key})
              WHERE c.suspended_at IS NULL
                AND (c.lease_holder IS NULL OR c.leased_until <= $2 OR c.lease_holder = ANY ($4::int[]))
                AND EXISTS (SELECT FROM ${deliveries} d WHERE d.${key} = c.${key}
                               AND d.failed_at IS NULL AND d.next_at <= $2)),
           acquired AS (
           UPDATE ${webhooks} w SET lease_holder = $1, leased_until = $3
             FROM (SELECT c.${key} FROM due JOIN ${webhooks} c USING (${key})
                    WHERE c.suspended_at IS NULL
                      AND (c.lease_holder IS NULL OR c.leased_until <= $2 OR c.lease_holder = ANY ($4::int[]))
                    LIMIT (SELECT least($5, ceil(count(*) / 2.0)) FROM due) FOR UPDATE OF c SKIP LOCKED) AS free
            WHERE w.${key} = free.${key} RETURNING w.${key} AS endpoint),
           first AS (
             SELECT min(nullif(d.next_at, 'infinity')) AS first_due FROM waiting JOIN ${webhooks} c USING (${key})
              CROSS JOIN LATERAL (SELECT next_at FROM ${deliveries} d WHERE d.${key} = c.${key} AND d.failed_at IS NULL
                                   ORDER BY d.next_at LIMIT 1) AS d
              WHERE c.suspended_at IS NULL)
           SELECT endpoint, first_due FROM first LEFT JOIN acquired ON true`,
    values: [instance, new Date(nowMs), new Date(nowMs + leaseMs), deadHolders, limit],
  });
  return {
    endpoints: rows.flatMap(({ endpoint }) => (endpoint === null ? [] : idFromUuid('whe', endpoint))),
    firstDueMs: rows[0]!.first_due?.getTime(),
  };
}

interface LeaseRow {
  endpoint: string;
}

const endpointIn = ({ endpoint }: LeaseRow) => idFromUuid('whe', endpoint);

/** Locked in the order of the key, as `deliveries_end` does, so that the two cannot deadlock. */
const ownInOrder = ({ webhooks, key }: EndpointTables, which: string) =>
  `(SELECT ${key} FROM ${webhooks} WHERE ${which} ORDER BY ${key} FOR UPDATE) AS o WHERE o.${key} = w.${key}`;

/** Extends the leases that this process still holds, and returns their endpoints. */
export async function renewLeases(
  db: Queryable,
  clock: Clock,
  tables: EndpointTables,
  { instance, leaseMs }: { instance: number; leaseMs: number },
): Promise<Set<Id<'whe'>>> {
  const { webhooks, key, suffix } = tables;
  const { rows } = await db.query<LeaseRow>({
    name: `renew webhook leases${suffix}`,
    text: `UPDATE ${webhooks} w SET leased_until = $2 FROM ${ownInOrder(tables, 'lease_holder = $1')}
           RETURNING w.${key} AS endpoint`,
    values: [instance, new Date(clock.nowMs() + leaseMs)],
  });
  return new Set(rows.map(endpointIn));
}

export async function releaseLeases(
  db: Queryable,
  tables: EndpointTables,
  instance: number,
  endpoints: Id<'whe'>[],
): Promise<void> {
  const { webhooks, key, suffix } = tables;
  await db.query({
    name: `release webhook leases${suffix}`,
    text: `UPDATE ${webhooks} w SET lease_holder = NULL, leased_until = NULL
             FROM ${ownInOrder(tables, `lease_holder = $1 AND ${key} = ANY ($2)`)}`,
    values: [instance, endpoints.map(uuidFromId)],
  });
}

/** The processes that hold leases, dead ones included. */
export async function listLeaseHolders(
  db: Queryable,
  { webhooks, suffix }: EndpointTables,
): Promise<number[]> {
  const { rows } = await db.query<{ lease_holder: number }>({
    name: `list webhook lease holders${suffix}`,
    text: `SELECT DISTINCT lease_holder FROM ${webhooks} WHERE lease_holder IS NOT NULL ORDER BY lease_holder`,
  });
  return rows.map(row => row.lease_holder);
}
