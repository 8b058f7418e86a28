import { type Clock, instantOf } from '../../base/clock.ts';
import { idFromUuid } from '../../base/ids.ts';
import type { NoticeKind } from '../../db/notices.ts';
import { type Pool, type Queryable, transaction } from '../../db/pool.ts';
import { addJob, type NoticeDetails } from './jobs.ts';
import { topicOf } from './topics.ts';

/** The first of a kind is told at once; what follows within this time is told together when it is over. */
const digestMs = 60_000;

interface Pile {
  partner_id: string | null;
  kind: NoticeKind;
  upTo: bigint;
}

/** What is new, by partner and kind, unless that partner has just been told of that kind. */
const newPiles = `
  WITH just_sent AS MATERIALIZED (SELECT DISTINCT partner_id, kind FROM partner_notices WHERE sent_at > $1),
       piles AS MATERIALIZED (
         SELECT partner_id, kind, max(id) AS "upTo" FROM partner_notices WHERE sent_at IS NULL GROUP BY partner_id, kind)
  SELECT * FROM piles p
   WHERE NOT EXISTS (SELECT FROM just_sent t
                      WHERE t.partner_id IS NOT DISTINCT FROM p.partner_id AND t.kind = p.kind)`;

/** Turns what partners are to be told into messages to their people. A flood becomes one message a minute. */
export async function distributeNotices(pool: Pool, clock: Clock): Promise<void> {
  const { rows } = await pool.query<Pile>({
    text: newPiles,
    values: [new Date(clock.nowMs() - digestMs)],
  });
  for (const pile of rows) await transaction(pool, tx => distribute(tx, clock, pile));
}

async function distribute(tx: Queryable, clock: Clock, { partner_id, kind, upTo }: Pile): Promise<void> {
  // What is told is what was marked: one with a smaller number may have been committed meanwhile.
  const { rows: told } = await tx.query<{ count: number; details: NoticeDetails }>({
    text: `WITH told AS (
             UPDATE partner_notices SET sent_at = $4
              WHERE sent_at IS NULL AND partner_id IS NOT DISTINCT FROM $1 AND kind = $2 AND id <= $3
             RETURNING id, details)
           SELECT count(*)::int AS count, (array_agg(details ORDER BY id DESC))[1] AS details FROM told`,
    values: [partner_id, kind, upTo, instantOf(clock)],
  });
  const { count, details } = told[0]!;
  if (count === 0) return;
  // Whoever did it themselves knows.
  const { rows } = await tx.query<{ user_id: bigint; name: string | null }>({
    text: `SELECT DISTINCT m.user_id, CASE WHEN $1::uuid IS NOT NULL THEN p.name END AS name
             FROM members m JOIN partners p ON p.id = m.partner_id JOIN chat_users u ON u.user_id = m.user_id
            WHERE ($1::uuid IS NULL OR m.partner_id = $1) AND u.blocked_at IS NULL AND $2 <> ALL (u.muted)
              AND ($4 > 1 OR $3::text IS DISTINCT FROM 'telegram:' || m.user_id)`,
    values: [partner_id, topicOf[kind] ?? 'security', details.actor ?? null, count],
  });
  const partnerId = partner_id === null ? null : idFromUuid('prt', partner_id);
  for (const { user_id, name } of rows)
    await addJob(tx, clock, user_id, { do: 'tell', kind, partnerId, partner: name, details, count });
}
