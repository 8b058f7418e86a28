import type { Clock } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';

/**
 * A partner's deliveries are sent by the one process that holds the lease of its webhook. A holder that hangs loses the
 * lease when it expires; that of a dead holder can be taken at once.
 */

interface AcquireOptions {
  instance: number;
  /** Holders known to be dead. */
  deadHolders: number[];
  leaseMs: number;
  limit: number;
}

/**
 * Takes leases of partners with something due that no other process holds, or whose holder is dead. It takes half of
 * them at a time, so that processes that ask at the same moment get their share.
 */
export async function acquireLeases(
  db: Queryable,
  clock: Clock,
  { instance, deadHolders, leaseMs, limit }: AcquireOptions,
): Promise<Id<'prt'>[]> {
  const nowMs = clock.nowMs();
  const { rows } = await db.query<{ partner_id: string }>({
    name: 'acquire webhook leases',
    // Steps from one partner with deliveries to the next along the index: partners without any cost nothing.
    text: `WITH RECURSIVE waiting AS (
             (SELECT partner_id FROM deliveries WHERE failed_at IS NULL ORDER BY partner_id LIMIT 1)
             UNION ALL
             SELECT (SELECT d.partner_id FROM deliveries d WHERE d.failed_at IS NULL AND d.partner_id > w.partner_id
                      ORDER BY d.partner_id LIMIT 1)
               FROM waiting w WHERE w.partner_id IS NOT NULL),
           due AS (
             SELECT c.partner_id FROM waiting JOIN webhooks c USING (partner_id)
              WHERE c.suspended_at IS NULL
                AND (c.lease_holder IS NULL OR c.leased_until <= $2 OR c.lease_holder = ANY ($4::int[]))
                AND EXISTS (SELECT FROM deliveries d WHERE d.partner_id = c.partner_id
                               AND d.failed_at IS NULL AND d.next_at <= $2))
           UPDATE webhooks w SET lease_holder = $1, leased_until = $3
             FROM (SELECT c.partner_id FROM due JOIN webhooks c USING (partner_id)
                    WHERE c.suspended_at IS NULL
                      AND (c.lease_holder IS NULL OR c.leased_until <= $2 OR c.lease_holder = ANY ($4::int[]))
                    LIMIT (SELECT least($5, ceil(count(*) / 2.0)) FROM due) FOR UPDATE OF c SKIP LOCKED) AS free
            WHERE w.partner_id = free.partner_id RETURNING w.partner_id`,
    values: [instance, new Date(nowMs), new Date(nowMs + leaseMs), deadHolders, limit],
  });
  return rows.map(row => idFromUuid('prt', row.partner_id));
}

/** Locked in the order of the key, as `deliveries_end` does, so that the two cannot deadlock. */
const ownInOrder = (which: string) =>
  `(SELECT partner_id FROM webhooks WHERE ${which} ORDER BY partner_id FOR UPDATE) AS o WHERE o.partner_id = w.partner_id`;

/** Extends the leases that this process still holds, and returns their partners. */
export async function renewLeases(
  db: Queryable,
  clock: Clock,
  { instance, leaseMs }: { instance: number; leaseMs: number },
): Promise<Set<Id<'prt'>>> {
  const { rows } = await db.query<{ partner_id: string }>({
    name: 'renew webhook leases',
    text: `UPDATE webhooks w SET leased_until = $2 FROM ${ownInOrder('lease_holder = $1')} RETURNING w.partner_id`,
    values: [instance, new Date(clock.nowMs() + leaseMs)],
  });
  return new Set(rows.map(row => idFromUuid('prt', row.partner_id)));
}

export async function releaseLeases(db: Queryable, instance: number, partners: Id<'prt'>[]): Promise<void> {
  await db.query({
    name: 'release webhook leases',
    text: `UPDATE webhooks w SET lease_holder = NULL, leased_until = NULL
             FROM ${ownInOrder('lease_holder = $1 AND partner_id = ANY ($2)')}`,
    values: [instance, partners.map(uuidFromId)],
  });
}

/** The processes that hold leases, dead ones included. */
export async function listLeaseHolders(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ lease_holder: number }>({
    name: 'list webhook lease holders',
    text: 'SELECT DISTINCT lease_holder FROM webhooks WHERE lease_holder IS NOT NULL ORDER BY lease_holder',
  });
  return rows.map(row => row.lease_holder);
}
