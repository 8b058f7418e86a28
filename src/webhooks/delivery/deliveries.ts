import type { Clock } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import { type PaymentRow, toPayment } from '../../payments/index.ts';
import { openSecrets } from '../admin/webhook.ts';
import type { Event } from './envelope.ts';
import type { Vault } from './secret.ts';

/**
 * Makes this process the one that sends to partners who have something due and whom nobody else serves: to half of them
 * at a time, so that others who look just now get their share.
 */
export async function acquireLeases(
  db: Queryable,
  clock: Clock,
  { instance, gone, leaseMs, limit }: { instance: number; gone: number[]; leaseMs: number; limit: number },
): Promise<Id<'prt'>[]> {
  const nowMs = clock.nowMs();
  const { rows } = await db.query<{ partner_id: string }>({
    name: 'adopt webhooks',
    // From one partner with something to send to the next, by the index: those with nothing cost nothing.
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
    values: [instance, new Date(nowMs), new Date(nowMs + leaseMs), gone, limit],
  });
  return rows.map(row => idFromUuid('prt', row.partner_id));
}

/** Locked by their key, as whoever puts attempts on record does. */
const ownInOrder = (which: string) =>
  `(SELECT partner_id FROM webhooks WHERE ${which} ORDER BY partner_id FOR UPDATE) AS o WHERE o.partner_id = w.partner_id`;

/** Keeps those that are still ours; whoever took one over meanwhile has it. */
export async function renewLeases(
  db: Queryable,
  clock: Clock,
  { instance, leaseMs }: { instance: number; leaseMs: number },
): Promise<Set<Id<'prt'>>> {
  const { rows } = await db.query<{ partner_id: string }>({
    name: 'keep owning webhooks',
    text: `UPDATE webhooks w SET leased_until = $2 FROM ${ownInOrder('lease_holder = $1')} RETURNING w.partner_id`,
    values: [instance, new Date(clock.nowMs() + leaseMs)],
  });
  return new Set(rows.map(row => idFromUuid('prt', row.partner_id)));
}

export async function releaseLeases(db: Queryable, instance: number, partners: Id<'prt'>[]): Promise<void> {
  await db.query({
    name: 'give away webhooks',
    text: `UPDATE webhooks w SET lease_holder = NULL, leased_until = NULL
             FROM ${ownInOrder('lease_holder = $1 AND partner_id = ANY ($2)')}`,
    values: [instance, partners.map(uuidFromId)],
  });
}

/** The processes that send, or did when they died. */
export async function listLeaseHolders(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ lease_holder: number }>({
    name: 'list senders',
    text: 'SELECT DISTINCT lease_holder FROM webhooks WHERE lease_holder IS NOT NULL ORDER BY lease_holder',
  });
  return rows.map(row => row.lease_holder);
}

export interface DueDelivery {
  partnerId: Id<'prt'>;
  event: Event;
  url: string;
  secrets: string[];
  /** How many attempts there were. */
  attempts: number;
  hanging: boolean;
  /** Was kept while sending was suspended. */
  kept: boolean;
}

export interface Place {
  partnerId: Id<'prt'>;
  places: number;
}

/** What is due for these partners, each partner's oldest first and no more of it than there are places. */
export async function readDue(
  db: Queryable,
  clock: Clock,
  vault: Vault,
  wanted: {
    instance: number;
    places: Place[];
    except: bigint[];
    limit: number;
    /** A partner whose secret cannot be opened is left out; the others must not wait for it. */
    onUnreadableSecret(partnerId: Id<'prt'>): void;
  },
): Promise<DueDelivery[]> {
  const nowMs = clock.nowMs();
  const { rows } = await db.query<
    PaymentRow & {
      event_id: bigint;
      attempts: number;
      url: string;
      secret: Buffer;
      old_secret: Buffer | null;
      old_secret_until: Date | null;
      hanging: boolean;
      kept: boolean;
    }
  >({
    name: 'read due deliveries',
    text: `SELECT p.*, d.event_id, d.attempts, w.url, w.secret, w.old_secret, w.old_secret_until, w.hanging,
                  d.event_id <= coalesce(w.kept_until, 0) AS kept
             FROM unnest($1::uuid[], $2::int[]) AS k (partner_id, places)
             JOIN webhooks w ON w.partner_id = k.partner_id AND w.lease_holder = $5 AND w.suspended_at IS NULL
            CROSS JOIN LATERAL (
                  SELECT * FROM deliveries d
                   WHERE d.partner_id = k.partner_id AND d.failed_at IS NULL AND d.next_at <= $3
                     AND d.event_id <> ALL ($4::bigint[])
                   ORDER BY d.next_at, d.event_id LIMIT k.places) AS d
             JOIN payments p ON p.partner_id = d.partner_id AND p.mode = d.mode AND p.id = d.payment_id
            LIMIT $6`,
    values: [
      wanted.places.map(({ partnerId }) => uuidFromId(partnerId)),
      wanted.places.map(({ places }) => places),
      new Date(nowMs),
      wanted.except,
      wanted.instance,
      wanted.limit,
    ],
  });
  // The statement promises no order, and what was kept goes out in that of its numbers.
  rows.sort((a, b) => (a.event_id < b.event_id ? -1 : 1));
  return rows.flatMap(row => {
    const payment = toPayment(row);
    const { partnerId } = payment;
    try {
      const { url, attempts, hanging, kept } = row;
      const secrets = openSecrets(vault, partnerId, row, nowMs);
      return { partnerId, event: { eventId: row.event_id, payment }, url, secrets, attempts, hanging, kept };
    } catch {
      wanted.onUnreadableSecret(partnerId);
      return [];
    }
  });
}

export interface AttemptEnd {
  partnerId: Id<'prt'>;
  eventId: bigint;
  attempt: number;
  delivered: boolean;
  /** It failed, and was long about it. */
  hung: boolean;
  status: number | null;
  error: string | null;
  durationMs: number;
  /** When to try again; null when it was delivered, or is given up. */
  nextAt: Date | null;
  at: Date;
}

/** Puts the ends of attempts on record; returns the partners to whom sending is suspended by this, with an alarm. */
export async function endAttempts(
  db: Queryable,
  ends: AttemptEnd[],
  alarmDetail: string,
): Promise<Id<'prt'>[]> {
  const { rows } = await db.query<{ partner_id: string }>({
    name: 'deliveries_end',
    text: 'SELECT partner_id FROM deliveries_end($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
    values: [
      ends.map(end => uuidFromId(end.partnerId)),
      ends.map(end => end.eventId),
      ends.map(end => end.attempt),
      ends.map(end => end.delivered),
      ends.map(end => end.hung),
      ends.map(end => end.status),
      ends.map(end => end.error),
      ends.map(end => end.durationMs),
      ends.map(end => end.nextAt),
      ends.map(end => end.at),
      ends.map(end => end.partnerId),
      alarmDetail,
    ],
  });
  return rows.map(row => idFromUuid('prt', row.partner_id));
}
