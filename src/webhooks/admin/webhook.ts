import { instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { type Queryable, transaction } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';
import { newSecret, type Vault } from '../delivery/secret.ts';
import { firstEndpointOf, isFirst } from '../first-endpoint.ts';
import { lockAccounts, lockEndpoint } from './locks.ts';
import { notifyOfChange } from './notices.ts';

export const eventKinds = ['payment.succeeded', 'payment.failed', 'payment.refunded'] as const;
export type EventKind = (typeof eventKinds)[number];

/** What an endpoint gets unless it asks for something else: the events of the contract. */
export const contractEvents: EventKind[] = ['payment.succeeded', 'payment.failed'];

/** An endpoint: where a partner receives the events of its payments. */
export interface Webhook {
  partnerId: Id<'prt'>;
  endpointId: Id<'whe'>;
  /** The webhook of the contract: it gets both modes, and all events of the contract. */
  isFirst: boolean;
  /** Null: both. */
  mode: Mode | null;
  url: string;
  state: 'active' | 'suspended';
  suspendedAt: Date | null;
  /** The last attempt failed, and only after a long time. */
  hanging: boolean;
  /** Events still to be sent. */
  waiting: number;
  /** Events whose attempts have all failed. */
  givenUp: number;
  oldSecretUntil: Date | null;
  changedAt: Date;
  /** The kinds of events that it gets. */
  events: EventKind[];
  /** Whether requests are also signed with the service's own key. */
  ed25519: boolean;
}

interface WebhookRow {
  endpoint: string;
  mode: Mode | null;
  url: string;
  suspended_at: Date | null;
  hanging: boolean;
  waiting: number;
  given_up: number;
  old_secret_until: Date | null;
  changed_at: Date;
  events: EventKind[];
  ed25519: boolean;
}

const selectEndpoints = `
  SELECT w.endpoint_id AS endpoint, w.mode, w.url, w.suspended_at, w.hanging, w.old_secret_until, w.changed_at, w.ed25519, w.events,
         d.waiting, d.given_up
    FROM endpoints w
   CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE d.failed_at IS NULL)::int AS waiting, count(d.failed_at)::int AS given_up
                         FROM deliveries d WHERE d.endpoint_id = w.endpoint_id) AS d`;

/** All endpoints of a partner: the first one, then those of live and of test mode. */
export async function listWebhooks(db: Queryable, partnerId: Id<'prt'>): Promise<Webhook[]> {
  const { rows } = await db.query<WebhookRow>({
    text: `${selectEndpoints} WHERE w.partner_id = $1 ORDER BY w.mode NULLS FIRST, w.number`,
    values: [uuidFromId(partnerId)],
  });
  return rows.map(row => toWebhook(partnerId, row));
}

/** An endpoint of this partner; without an id, its first. */
export async function findWebhook(
  db: Queryable,
  partnerId: Id<'prt'>,
  endpointId: Id<'whe'> = firstEndpointOf(partnerId),
): Promise<Webhook | undefined> {
  const { rows } = await db.query<WebhookRow>({
    text: `${selectEndpoints} WHERE w.partner_id = $1 AND w.endpoint_id = $2`,
    values: [uuidFromId(partnerId), uuidFromId(endpointId)],
  });
  return rows[0] && toWebhook(partnerId, rows[0]);
}

function toWebhook(partnerId: Id<'prt'>, row: WebhookRow): Webhook {
  const endpointId = idFromUuid('whe', row.endpoint);
  return {
    partnerId,
    endpointId,
    isFirst: isFirst(partnerId, endpointId),
    mode: row.mode,
    url: row.url,
    state: row.suspended_at ? 'suspended' : 'active',
    suspendedAt: row.suspended_at,
    hanging: row.hanging,
    waiting: row.waiting,
    givenUp: row.given_up,
    oldSecretUntil: row.old_secret_until,
    changedAt: row.changed_at,
    events: row.events,
    ed25519: row.ed25519,
  };
}

/** How records of the audit log name an endpoint; the first is just the webhook of its partner. */
export const nameInAudit = (partnerId: Id<'prt'>, endpointId: Id<'whe'>): { endpoint_id?: string } =>
  isFirst(partnerId, endpointId) ? {} : { endpoint_id: endpointId };

/**
 * Sets the first URL, which has been checked; the first time it also makes a secret. A suspension stays: a check ends it.
 * `isNew`: only if there is none.
 */
export function setWebhook(
  audit: AuditContext,
  vault: Vault,
  partnerId: Id<'prt'>,
  url: string,
  { isNew = false } = {},
): Promise<'set' | 'exists'> {
  return transaction(audit.pool, async tx => {
    await lockAccounts(tx, partnerId, ['live', 'test']);
    const before = await findWebhook(tx, partnerId);
    if (before && isNew) return 'exists';
    const sealed = vault.seal(newSecret(), partnerId);
    await tx.query({
      text: `INSERT INTO endpoints AS w (endpoint_id, partner_id, number, url, secret, events, created_at, changed_at)
             VALUES ($1, $1, 1, $2, $3, $4, $5, $5)
             ON CONFLICT (endpoint_id) DO UPDATE
               SET url = excluded.url, changed_at = excluded.changed_at,
                   given_up = CASE WHEN w.url = excluded.url THEN w.given_up ELSE 0 END`,
      values: [uuidFromId(partnerId), url, sealed, contractEvents, instantOf(audit.clock)],
    });
    await recordChange(tx, audit, {
      action: 'webhook.set',
      subject: partnerId,
      before: before && { url: before.url },
      after: { url },
    });
    const kind = before ? 'endpoint_moved' : 'endpoint_added';
    if (before?.url !== url) await notifyOfChange(tx, audit, kind, { partnerId, mode: null, url });
    return 'set';
  });
}

/** Changes the URL of an endpoint that there is. */
export function moveWebhook(
  audit: AuditContext,
  { partnerId, endpointId }: Pick<Webhook, 'partnerId' | 'endpointId'>,
  url: string,
): Promise<'set' | 'no_webhook'> {
  return transaction(audit.pool, async tx => {
    await lockEndpoint(tx, partnerId, endpointId);
    const before = await findWebhook(tx, partnerId, endpointId);
    if (!before) return 'no_webhook';
    await tx.query({
      text: `UPDATE endpoints SET url = $2, changed_at = $3, given_up = CASE WHEN url = $2 THEN given_up ELSE 0 END
              WHERE endpoint_id = $1`,
      values: [uuidFromId(endpointId), url, instantOf(audit.clock)],
    });
    await recordChange(tx, audit, {
      action: 'webhook.set',
      subject: partnerId,
      before: { ...nameInAudit(partnerId, endpointId), url: before.url },
      after: { ...nameInAudit(partnerId, endpointId), url },
    });
    if (before.url !== url) await notifyOfChange(tx, audit, 'endpoint_moved', { ...before, url });
    return 'set';
  });
}

/** Events of these kinds are sent from now on, and no others. The first endpoint always gets those of the contract. */
export function setEvents(
  audit: AuditContext,
  { partnerId, endpointId }: Pick<Webhook, 'partnerId' | 'endpointId'>,
  events: EventKind[],
): Promise<'set' | 'no_webhook' | 'no_events' | 'contract_events'> {
  return transaction(audit.pool, async tx => {
    if (events.length === 0) return 'no_events';
    if (isFirst(partnerId, endpointId) && !contractEvents.every(kind => events.includes(kind)))
      return 'contract_events';
    await lockEndpoint(tx, partnerId, endpointId);
    const before = await findWebhook(tx, partnerId, endpointId);
    if (!before) return 'no_webhook';
    await tx.query({
      text: `UPDATE endpoints SET events = $2, changed_at = $3 WHERE endpoint_id = $1`,
      values: [uuidFromId(endpointId), events, instantOf(audit.clock)],
    });
    await recordChange(tx, audit, {
      action: 'webhook.events',
      subject: partnerId,
      before: { ...nameInAudit(partnerId, endpointId), events: before.events },
      after: { ...nameInAudit(partnerId, endpointId), events },
    });
    return 'set';
  });
}
