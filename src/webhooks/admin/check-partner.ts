import { clearAlarmsOf } from '../../alarms/index.ts';
import { instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { writeNotice } from '../../db/notices/index.ts';
import { transaction } from '../../db/postgres/index.ts';
import type { Keyring } from '../../db/secrets/index.ts';
import { readSecrets, type Vault } from '../delivery/secret.ts';
import { firstEndpointOf, isFirst, subjectOf } from '../first-endpoint.ts';
import type { Sender } from '../http/sender.ts';
import { createSigningKeys } from '../signing/signing-keys.ts';
import { checkReceiver, probeMode, type WebhookCheck } from './check.ts';
import { findWebhook, nameInAudit, type Webhook } from './webhook.ts';

export type PartnerCheck =
  | { outcome: 'checked'; check: WebhookCheck; reEnabled: boolean }
  | { outcome: 'no_webhook' | 'not_allowed' };

interface CheckDeps {
  audit: AuditContext;
  sender: Sender;
  vault: Vault;
  keyring: Keyring;
}

const always = async () => true;

/**
 * Checks an endpoint of a partner, the first unless another is named. If it accepts valid events, a suspension ends. A check is slow, so `mayStillAct` is
 * called after it, before anything changes.
 */
export async function checkPartner(
  deps: CheckDeps,
  partnerId: Id<'prt'>,
  {
    endpointId = firstEndpointOf(partnerId),
    mayStillAct = always,
  }: { endpointId?: Id<'whe'> | undefined; mayStillAct?: () => Promise<boolean> } = {},
): Promise<PartnerCheck> {
  const { audit } = deps;
  const webhook = await findWebhook(audit.pool, partnerId, endpointId);
  if (!webhook) return { outcome: 'no_webhook' };
  const check = await checkOnce(deps, webhook);
  if (!(await mayStillAct())) return { outcome: 'not_allowed' };
  const { canReceive, passed } = check;
  await recordChange(audit.pool, audit, {
    action: 'webhook.check',
    subject: partnerId,
    after: { ...nameInAudit(partnerId, endpointId), can_receive: canReceive, passed },
  });
  const reEnabled = canReceive && (await reEnable(audit, webhook)) === 're_enabled';
  return { outcome: 'checked', check, reEnabled };
}

/** Checks under way, by endpoint and URL: a second caller gets the same result, so that the receiver is not checked twice. */
const underWay = new Map<string, Promise<WebhookCheck>>();

function checkOnce(deps: CheckDeps, webhook: Webhook): Promise<WebhookCheck> {
  const name = `${webhook.endpointId} ${webhook.url}`;
  const running = underWay.get(name);
  if (running) return running;
  const checking = runCheck(deps, webhook).finally(() => underWay.delete(name));
  underWay.set(name, checking);
  return checking;
}

/** Signed as its events are. */
async function runCheck(
  { audit: { pool, clock }, sender, vault, keyring }: CheckDeps,
  { partnerId, endpointId, url, ed25519 }: Webhook,
): Promise<WebhookCheck> {
  const secrets = await readSecrets(pool, vault, partnerId, clock.nowMs(), endpointId);
  // The log is for keys that are listed.
  const privateKey = ed25519
    ? await createSigningKeys(pool, clock, keyring, { error() {} }).current({ partnerId, mode: probeMode })
    : undefined;
  return checkReceiver({ clock, sender }, { url, secrets, privateKey });
}

/** As JSON, for the command line. */
export const checkObject = ({ results, canReceive, passed, tls }: WebhookCheck, reEnabled: boolean) => ({
  can_receive: canReceive,
  passed,
  re_enabled: reEnabled,
  tls: tls && { protocol: tls.protocol, valid_until: tls.validUntil },
  results: results.map(({ durationMs, ...result }) => ({ ...result, duration_ms: durationMs })),
});

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
