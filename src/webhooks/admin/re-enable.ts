import { clearAlarmsOf } from '../../alarms/index.ts';
import { instantOf } from '../../base/clock.ts';
import { uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { writeNotice } from '../../db/notices/index.ts';
import { transaction } from '../../db/postgres/index.ts';
import { isFirst, subjectOf } from '../first-endpoint.ts';
import { nameInAudit, type Webhook } from './webhook.ts';

/**
 * Ends the suspension of an endpoint, if its URL is still this one. The backlog goes out one by one in the order of events, each with the
 * whole retry schedule.
 */
export function reEnable(
  audit: AuditContext,
  { partnerId, endpointId, url }: Pick<Webhook, 'partnerId' | 'endpointId' | 'url'>,
): Promise<'re_enabled' | 'not_suspended'> {
  return transaction(audit.pool, async tx => {
    const { rowCount } = await tx.query({
      text: `UPDATE endpoints w
                SET suspended_at = NULL, given_up = 0, hanging = false, changed_at = $2,
                    kept_until = (SELECT max(event_id) FROM deliveries d
                                   WHERE d.endpoint_id = w.endpoint_id AND d.failed_at IS NULL)
              WHERE endpoint_id = $1 AND url = $3 AND suspended_at IS NOT NULL`,
      values: [uuidFromId(endpointId), instantOf(audit.clock), url],
    });
    if (rowCount === 0) return 'not_suspended';
    await tx.query({
      // Events are sent by their due time. Times of two processes may differ a little, so a later event is due no earlier.
      text: `UPDATE deliveries d SET attempts = 0, next_at = o.at
               FROM (SELECT k.event_id, max(e.at) OVER (ORDER BY k.event_id) AS at
                       FROM deliveries k CROSS JOIN LATERAL deliverable_event(k.partner_id, k.mode, k.event_id) AS e
                      WHERE k.endpoint_id = $1 AND k.failed_at IS NULL) AS o
              WHERE d.endpoint_id = $1 AND d.event_id = o.event_id AND (d.attempts > 0 OR d.next_at <> o.at)`,
      values: [uuidFromId(endpointId)],
    });
    await writeNotice(
      tx,
      audit.clock,
      partnerId,
      'sending_re_enabled',
      isFirst(partnerId, endpointId) ? {} : { url },
    );
    await clearAlarmsOf(tx, audit, subjectOf({ partnerId, endpointId }));
    await recordChange(tx, audit, {
      action: 'webhook.re_enable',
      subject: partnerId,
      after: nameInAudit(partnerId, endpointId),
    });
    return 're_enabled';
  });
}
