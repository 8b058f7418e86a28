import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit.ts';
import { keepPartitions } from '../../db/partitions.ts';
import { type Pool, type Queryable, transaction } from '../../db/pool.ts';
import { pruneOlder } from '../../db/prune.ts';
import { enterShardOf, inEachShard } from '../../db/shards/sessions.ts';

export interface Attempt {
  attemptId: bigint;
  eventId: bigint;
  paymentId: Id<'pay'>;
  attempt: number;
  at: Date;
  status: number | null;
  error: string | null;
  durationMs: number;
}

/** The last attempts, newest first; with `before`, those older than that attempt. */
export async function listAttempts(
  db: Queryable,
  partnerId: Id<'prt'>,
  limit: number,
  before?: bigint,
): Promise<Attempt[]> {
  const { rows } = await db.query<Omit<Attempt, 'paymentId'> & { payment_id: string }>({
    text: `SELECT a.id AS "attemptId", a.event_id AS "eventId", a.attempt, a.at, a.status, a.error,
                  a.duration_ms AS "durationMs", e.payment_id
             FROM (SELECT * FROM webhook_attempts WHERE partner_id = $1 AND ($3::bigint IS NULL OR id < $3)
                    ORDER BY id DESC LIMIT $2) AS a
            CROSS JOIN LATERAL (SELECT * FROM deliverable_events e
                                 WHERE e.partner_id = $1 AND e.mode IN ('live', 'test') AND e.id = a.event_id LIMIT 1) AS e
            ORDER BY a.id DESC`,
    values: [uuidFromId(partnerId), limit, before ?? null],
  });
  return rows.map(({ payment_id, ...attempt }) => ({ ...attempt, paymentId: idFromUuid('pay', payment_id) }));
}

const resetTo = (at: string) => `SET attempts = 0, next_at = ${at}, failed_at = NULL`;

/** Sends an event again, delivered or not. With `ofPartner`, only if it is an event of this partner. */
export function resendEvent(
  audit: AuditContext,
  eventId: bigint,
  ofPartner?: Id<'prt'>,
): Promise<
  { outcome: 'queued'; partnerId: Id<'prt'>; suspended: boolean } | { outcome: 'no_event' | 'no_webhook' }
> {
  return transaction(audit.pool, async tx => {
    // A delivery whose event is pruned meanwhile would be due without end.
    await tx.query({ text: 'SELECT wait_for_test_pruning()' });
    const { rows } = await tx.query<{
      partner_id: string;
      mode: string;
      payment_id: string;
      url: string | null;
      suspended: boolean;
    }>({
      text: `SELECT e.partner_id, e.mode, e.payment_id, w.url, w.suspended_at IS NOT NULL AS suspended
               FROM partners p CROSS JOIN unnest(enum_range(NULL::mode)) AS m (mode)
              CROSS JOIN LATERAL (SELECT * FROM deliverable_events e
                                   WHERE e.partner_id = p.id AND e.mode = m.mode AND e.id = $1 OFFSET 0) AS e
               LEFT JOIN webhooks w ON w.partner_id = e.partner_id
              WHERE $2::uuid IS NULL OR p.id = $2`,
      values: [eventId, ofPartner ? uuidFromId(ofPartner) : null],
    });
    const [event] = rows;
    if (!event) return { outcome: 'no_event' };
    if (event.url === null) return { outcome: 'no_webhook' };
    await enterShardOf(tx, event.partner_id);
    await tx.query({
      text: `INSERT INTO deliveries AS d (partner_id, event_id, mode, payment_id, next_at)
             VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (partner_id, event_id) DO UPDATE ${resetTo('$5')}`,
      values: [event.partner_id, eventId, event.mode, event.payment_id, instantOf(audit.clock)],
    });
    const partnerId = idFromUuid('prt', event.partner_id);
    await recordChange(tx, audit, {
      action: 'webhook.resend',
      subject: partnerId,
      after: { event_id: `evt_${eventId}` },
    });
    return { outcome: 'queued', partnerId, suspended: event.suspended };
  });
}

const resendBatchSize = 500;

/** Sends again what was given up since then, for all partners; in batches, so that locks are held for a short time. */
export async function resendFailed(
  audit: AuditContext,
  since: Date,
  onProgress: (done: number, of: number) => void,
): Promise<number> {
  const which = 'failed_at >= $1 AND failed_at <= $2';
  const until = instantOf(audit.clock);
  const { rows } = await audit.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM deliveries WHERE ${which}`,
    [since, until],
  );
  const { count } = rows[0]!;
  let done = 0;
  for (;;) {
    const counts = await inEachShard(audit.pool, async tx => {
      const { rowCount } = await tx.query({
        text: `UPDATE deliveries d ${resetTo('$2')}
                 FROM (SELECT partner_id, event_id FROM deliveries WHERE ${which} LIMIT ${resendBatchSize} FOR UPDATE SKIP LOCKED) f
                WHERE d.partner_id = f.partner_id AND d.event_id = f.event_id`,
        values: [since, until],
      });
      return rowCount ?? 0;
    });
    const batch = counts.reduce((sum, count) => sum + count, 0);
    if (batch === 0) break;
    done += batch;
    onProgress(done, count);
  }
  if (done > 0) {
    const after = { events: done, since };
    await recordChange(audit.pool, audit, { action: 'webhook.resend_failed', subject: 'webhooks', after });
  }
  return done;
}

const keptDays = 30;

/** Removes attempts older than thirty days, and deliveries that were given up before. Returns how many rows it deleted. */
export async function pruneLog(pool: Pool, clock: Clock): Promise<number> {
  const givenUp = await pruneOlder(pool, clock, { table: 'deliveries', since: 'failed_at', keptDays });
  return givenUp + (await keepPartitions(pool, clock, { table: 'webhook_attempts', since: 'at', keptDays }));
}
