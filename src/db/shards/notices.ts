import { type Pool, type Queryable, transaction } from '../pool.ts';
import { schemaOf } from './layout.ts';

/**
 * Takes the notices and alarms that functions of a shard on Citus have left in it to where they stand once. In a transaction of
 * the coordinator, which Citus makes atomic over both nodes: each arrives once.
 */
export async function takeNotices(coordinator: Pool, node: Queryable, shard: number): Promise<number> {
  const { rowCount } = await node.query({ text: 'SELECT FROM pending_notices LIMIT 1' });
  return rowCount === 0 ? 0 : moveNotices(coordinator, shard);
}

const moveNotices = (coordinator: Pool, shard: number): Promise<number> =>
  transaction(coordinator, async tx => {
    const { rows } = await tx.query<Record<string, unknown>>({
      text: `DELETE FROM ${schemaOf(shard)}.pending_notices
             RETURNING partner_id, kind, details, at, alarm_subject, alarm_detail`,
    });
    if (rows.length === 0) return 0;
    const all = JSON.stringify(rows);
    await tx.query({
      text: `INSERT INTO public.partner_notices (partner_id, kind, details, at)
               SELECT n.partner_id, n.kind, n.details, n.at
                 FROM jsonb_to_recordset($1::jsonb) AS n (partner_id uuid, kind text, details jsonb, at timestamptz)
                ORDER BY n.at`,
      values: [all],
    });
    await tx.query({
      text: `INSERT INTO public.alarms AS a (kind, subject, detail, first_at, last_at)
               SELECT 'webhook_suspended', n.alarm_subject, n.alarm_detail, n.at, n.at
                 FROM jsonb_to_recordset($1::jsonb) AS n (alarm_subject text, alarm_detail text, at timestamptz)
                WHERE n.alarm_subject IS NOT NULL
               ON CONFLICT (kind, subject) WHERE cleared_at IS NULL
                 DO UPDATE SET last_at = greatest(a.last_at, excluded.last_at), times = a.times + 1`,
      values: [all],
    });
    return rows.length;
  });
