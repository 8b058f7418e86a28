import { clearAlarmsOf } from '../../alarms/index.ts';
import { instantOf } from '../../base/clock.ts';
import { type Id, newId, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { transaction } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';
import { newSecret, type Vault } from '../delivery/secret.ts';
import { subjectOf } from '../first-endpoint.ts';
import { lockAccounts } from './locks.ts';
import { notifyOfChange } from './notices.ts';
import { type EventKind, findWebhook, nameInAudit, type Webhook } from './webhook.ts';

/** With the first one, of a partner and mode. */
export const maxEndpoints = 5;

export interface NewEndpoint {
  mode: Mode;
  /** Has been checked. */
  url: string;
  /** At least one. */
  events: EventKind[];
}

/** Adds an endpoint with a secret of its own. It gets the events that happen from now on. */
export function addEndpoint(
  audit: AuditContext,
  vault: Vault,
  partnerId: Id<'prt'>,
  { mode, url, events }: NewEndpoint,
): Promise<{ outcome: 'added'; endpointId: Id<'whe'> } | { outcome: 'too_many' }> {
  const endpointId = newId('whe', audit.clock);
  return transaction(audit.pool, async tx => {
    await lockAccounts(tx, partnerId, [mode]);
    const { rowCount } = await tx.query({
      text: `INSERT INTO endpoints (endpoint_id, partner_id, mode, number, url, secret, events, created_at, changed_at)
             SELECT $1, $2, $3, n, $4, $5, $6, $7, $7 FROM generate_series(2, ${maxEndpoints}) AS n
              WHERE NOT EXISTS (SELECT FROM endpoints w WHERE w.partner_id = $2 AND w.mode = $3 AND w.number = n)
              ORDER BY n LIMIT 1`,
      values: [
        uuidFromId(endpointId),
        uuidFromId(partnerId),
        mode,
        url,
        vault.seal(newSecret(), subjectOf({ partnerId, endpointId })),
        events,
        instantOf(audit.clock),
      ],
    });
    if (rowCount === 0) return { outcome: 'too_many' };
    await recordChange(tx, audit, {
      action: 'webhook.add',
      subject: partnerId,
      after: { endpoint_id: endpointId, mode, url, events },
    });
    await notifyOfChange(tx, audit, 'endpoint_added', { partnerId, mode, url });
    return { outcome: 'added', endpointId };
  });
}

/** Removes an endpoint with everything that waits for it. What is being sent to it may still arrive. */
export function removeEndpoint(
  audit: AuditContext,
  { partnerId, endpointId }: Pick<Webhook, 'partnerId' | 'endpointId'>,
): Promise<'removed' | 'no_webhook'> {
  return transaction(audit.pool, async tx => {
    const before = await findWebhook(tx, partnerId, endpointId);
    if (!before) return 'no_webhook';
    await lockAccounts(tx, partnerId, before.mode ? [before.mode] : ['live', 'test']);
    const { rowCount } = await tx.query({
      text: 'DELETE FROM endpoints WHERE endpoint_id = $1',
      values: [uuidFromId(endpointId)],
    });
    if (rowCount === 0) return 'no_webhook';
    await tx.query({
      text: 'DELETE FROM deliveries WHERE endpoint_id = $1',
      values: [uuidFromId(endpointId)],
    });
    await clearAlarmsOf(tx, audit, subjectOf({ partnerId, endpointId }));
    await recordChange(tx, audit, {
      action: 'webhook.remove',
      subject: partnerId,
      before: { ...nameInAudit(partnerId, endpointId), url: before.url, pending: before.waiting },
    });
    await notifyOfChange(tx, audit, 'endpoint_removed', before);
    return 'removed';
  });
}
