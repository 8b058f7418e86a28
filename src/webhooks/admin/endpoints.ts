import { clearAlarmsOf } from '../../alarms/index.ts';
import { instantOf } from '../../base/clock.ts';
import { type Id, newId, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { type NoticeKind, writeNotice } from '../../db/notices/index.ts';
import { hasRow, type Queryable, transaction } from '../../db/postgres/index.ts';
import type { Keyring } from '../../db/secrets/index.ts';
import type { Mode } from '../../ledger/index.ts';
import { newSecret, type Vault } from '../delivery/secret.ts';
import { type EndpointRef, firstEndpointOf, isFirst, subjectOf } from '../first-endpoint.ts';
import { ensureSigningRoot } from '../signing/signing-keys.ts';
import { contractEvents, type EventKind, findWebhook, nameInAudit, type Webhook } from './webhook.ts';

/** With the first one, of a partner and mode. */
export const maxEndpoints = 5;

/**
 * Functions that write events lock the account of their partner and mode, and then look which endpoints there are. So under this
 * lock each event either has happened, or will see the change.
 */
const lockAccounts = (tx: Queryable, partnerId: Id<'prt'>, modes: Mode[]) =>
  tx.query({
    text: 'SELECT FROM accounts WHERE partner_id = $1 AND mode = ANY ($2::mode[]) ORDER BY mode FOR UPDATE',
    values: [uuidFromId(partnerId), modes],
  });

/** What is read of the endpoint afterwards holds until the end of the transaction. Events are queued for it meanwhile. */
const lockEndpoint = (tx: Queryable, { partnerId, endpointId }: EndpointRef) =>
  tx.query({
    text: `SELECT FROM endpoints WHERE partner_id = $1 AND endpoint_id = $2 FOR NO KEY UPDATE`,
    values: [uuidFromId(partnerId), uuidFromId(endpointId)],
  });

/** The whole team learns where its events go, and that a secret is new, also when support changes it. */
const notifyOfChange = (
  tx: Queryable,
  { clock, actor }: AuditContext,
  kind: Extract<NoticeKind, `endpoint_${string}`>,
  { partnerId, mode, url }: Pick<Webhook, 'partnerId' | 'mode' | 'url'>,
) => writeNotice(tx, clock, partnerId, kind, { mode, url, actor });

/** Works on an endpoint that there is, under its lock. */
const changeEndpoint = <Outcome>(
  audit: AuditContext,
  endpoint: EndpointRef,
  change: (tx: Queryable, before: Webhook) => Promise<Outcome>,
): Promise<Outcome | 'no_webhook'> =>
  transaction(audit.pool, async tx => {
    await lockEndpoint(tx, endpoint);
    const before = await findWebhook(tx, endpoint.partnerId, endpoint.endpointId);
    return before ? change(tx, before) : 'no_webhook';
  });

interface Stored {
  /** For `SET`, with these values as `$3` and so on. */
  set: string;
  values: readonly unknown[];
  action: `webhook.${string}`;
  before?: object;
  after: object;
}

/** Stores a change of an endpoint, with its record in the audit log. */
async function store(
  tx: Queryable,
  audit: AuditContext,
  { partnerId, endpointId }: EndpointRef,
  { set, values, action, before, after }: Stored,
): Promise<void> {
  await tx.query({
    text: `UPDATE endpoints SET ${set}, changed_at = $2 WHERE endpoint_id = $1`,
    values: [uuidFromId(endpointId), instantOf(audit.clock), ...values],
  });
  const name = nameInAudit(partnerId, endpointId);
  await recordChange(tx, audit, {
    action,
    subject: partnerId,
    before: before && { ...name, ...before },
    after: { ...name, ...after },
  });
}

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
export const moveWebhook = (audit: AuditContext, endpoint: EndpointRef, url: string) =>
  changeEndpoint(audit, endpoint, async (tx, before) => {
    await store(tx, audit, before, {
      set: 'url = $3, given_up = CASE WHEN url = $3 THEN given_up ELSE 0 END',
      values: [url],
      action: 'webhook.set',
      before: { url: before.url },
      after: { url },
    });
    if (before.url !== url) await notifyOfChange(tx, audit, 'endpoint_moved', { ...before, url });
    return 'set' as const;
  });

/** Events of these kinds are sent from now on, and no others. The first endpoint always gets those of the contract. */
export async function setEvents(audit: AuditContext, endpoint: EndpointRef, events: EventKind[]) {
  if (events.length === 0) return 'no_events';
  const isOfContract = isFirst(endpoint.partnerId, endpoint.endpointId);
  if (isOfContract && !contractEvents.every(kind => events.includes(kind))) return 'contract_events';
  return changeEndpoint(audit, endpoint, async (tx, before) => {
    const change = { set: 'events = $3', values: [events], action: 'webhook.events' } as const;
    await store(tx, audit, before, { ...change, before: { events: before.events }, after: { events } });
    return 'set' as const;
  });
}

/** Whether requests to the endpoint are also signed with the partner's Ed25519 key. */
export const setEd25519 = (audit: AuditContext, keyring: Keyring, endpoint: EndpointRef, isOn: boolean) =>
  changeEndpoint(audit, endpoint, async (tx, before) => {
    if (isOn) await ensureSigningRoot(tx, audit, keyring);
    const change = { set: 'ed25519 = $3', values: [isOn], action: 'webhook.ed25519' } as const;
    await store(tx, audit, before, { ...change, after: { ed25519: isOn } });
    return 'set' as const;
  });

const overlapMs = 24 * 3_600_000;

/** A new secret; for a day the old one signs as well, so that the receiver can change over without a gap. */
export const rotateSecret = (
  audit: AuditContext,
  vault: Vault,
  partnerId: Id<'prt'>,
  { force = false, endpointId = firstEndpointOf(partnerId) } = {},
) =>
  changeEndpoint(audit, { partnerId, endpointId }, async (tx, known) => {
    // A third secret would end the first one at once, and the receiver may still use it.
    if (!force && known.oldSecretUntil && known.oldSecretUntil.getTime() > audit.clock.nowMs())
      return 'overlap' as const;
    const until = new Date(audit.clock.nowMs() + overlapMs);
    await store(tx, audit, known, {
      set: 'old_secret = secret, old_secret_until = $3, secret = $4',
      values: [until, vault.seal(newSecret(), subjectOf(known))],
      action: 'webhook.rotate',
      after: { old_secret_until: until },
    });
    await notifyOfChange(tx, audit, 'endpoint_secret_rotated', known);
    return 'rotated' as const;
  });

/** Adds an endpoint with a secret of its own, for at least one kind of events. It gets those that happen from now on. */
export function addEndpoint(
  audit: AuditContext,
  vault: Vault,
  partnerId: Id<'prt'>,
  /** The URL has been checked. */
  { mode, url, events }: { mode: Mode; url: string; events: EventKind[] },
): Promise<{ outcome: 'added'; endpointId: Id<'whe'> } | { outcome: 'too_many' }> {
  const endpointId = newId('whe', audit.clock);
  return transaction(audit.pool, async tx => {
    await lockAccounts(tx, partnerId, [mode]);
    const isAdded = await hasRow(tx, {
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
    if (!isAdded) return { outcome: 'too_many' };
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
  { partnerId, endpointId }: EndpointRef,
): Promise<'removed' | 'no_webhook'> {
  return transaction(audit.pool, async tx => {
    const before = await findWebhook(tx, partnerId, endpointId);
    if (!before) return 'no_webhook';
    await lockAccounts(tx, partnerId, before.mode ? [before.mode] : ['live', 'test']);
    const values = [uuidFromId(endpointId)];
    if (!(await hasRow(tx, { text: 'DELETE FROM endpoints WHERE endpoint_id = $1', values })))
      return 'no_webhook';
    await tx.query({ text: 'DELETE FROM deliveries WHERE endpoint_id = $1', values });
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
