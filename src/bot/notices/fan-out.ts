import { type Clock, instantOf } from '../../base/clock.ts';
import { idFromUuid } from '../../base/ids.ts';
import { type NoticeKind, rolesFor, topicOf } from '../../db/notices/index.ts';
import { type Pool, type Queryable, readRow, readRows, transaction } from '../../db/postgres/index.ts';
import { addJob, type NoticeDetails } from './outbox.ts';

/** The first notice of a kind is sent at once; those that follow within this time become one digest. */
const digestMs = 60_000;

interface NoticeGroup {
  partner_id: string | null;
  kind: NoticeKind;
  upTo: bigint;
}

/** New notices by partner and kind, except kinds of which the partner has just got one. */
const newGroups = `
  WITH just_sent AS MATERIALIZED (SELECT DISTINCT partner_id, kind FROM partner_notices WHERE sent_at > $1),
       groups AS MATERIALIZED (
         SELECT partner_id, kind, max(id) AS "upTo" FROM partner_notices WHERE sent_at IS NULL GROUP BY partner_id, kind)
  SELECT * FROM groups p
   WHERE NOT EXISTS (SELECT FROM just_sent t
                      WHERE t.partner_id IS NOT DISTINCT FROM p.partner_id AND t.kind = p.kind)`;

/** Turns notices of partners into outbox jobs, one per member. A flood becomes one message a minute. */
export async function fanOutNotices(pool: Pool, clock: Clock): Promise<void> {
  const groups = await readRows<NoticeGroup>(pool, {
    text: newGroups,
    values: [new Date(clock.nowMs() - digestMs)],
  });
  for (const group of groups) await transaction(pool, tx => fanOut(tx, clock, group));
}

async function fanOut(tx: Queryable, clock: Clock, { partner_id, kind, upTo }: NoticeGroup): Promise<void> {
  // Counts the rows it marks: a notice with a smaller id may have been committed since they were listed.
  const { count, details } = await readRow<{ count: number; details: NoticeDetails }>(tx, {
    text: `WITH marked AS (
             UPDATE partner_notices SET sent_at = $4
              WHERE sent_at IS NULL AND partner_id IS NOT DISTINCT FROM $1 AND kind = $2 AND id <= $3
             RETURNING id, details)
           SELECT count(*)::int AS count, (array_agg(details ORDER BY id DESC))[1] AS details FROM marked`,
    values: [partner_id, kind, upTo, instantOf(clock)],
  });
  if (count === 0) return;
  // The member who caused a single notice does not get it.
  const members = await readRows<{ user_id: bigint; name: string | null }>(tx, {
    text: `SELECT DISTINCT m.user_id, CASE WHEN $1::uuid IS NOT NULL THEN p.name END AS name
             FROM members m JOIN partners p ON p.id = m.partner_id JOIN chat_users u ON u.user_id = m.user_id
            WHERE ($1::uuid IS NULL OR m.partner_id = $1) AND u.blocked_at IS NULL AND $2 <> ALL (u.muted)
              AND ($5::text[] IS NULL OR m.role::text = ANY ($5))
              AND ($4 > 1 OR $3::text IS DISTINCT FROM 'telegram:' || m.user_id)`,
    values: [partner_id, topicOf[kind], details.actor ?? null, count, rolesFor(kind)],
  });
  const partnerId = partner_id === null ? null : idFromUuid('prt', partner_id);
  for (const { user_id, name } of members)
    await addJob(tx, clock, user_id, { do: 'notify', kind, partnerId, partner: name, details, count });
}
