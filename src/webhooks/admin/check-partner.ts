import type { Id } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit.ts';
import type { Vault } from '../delivery/secret.ts';
import { firstEndpointOf } from '../endpoint-tables.ts';
import type { Sender } from '../http/sender.ts';
import { checkReceiver, type WebhookCheck } from './check.ts';
import { reEnable } from './re-enable.ts';
import { readSecrets } from './secrets.ts';
import { findWebhook, nameInAudit } from './webhook.ts';

export type PartnerCheck =
  | { outcome: 'checked'; check: WebhookCheck; reEnabled: boolean }
  | { outcome: 'no_webhook' | 'not_allowed' };

interface CheckDeps {
  audit: AuditContext;
  sender: Sender;
  vault: Vault;
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
  const check = await checkOnce(deps, partnerId, endpointId);
  if (!check) return { outcome: 'no_webhook' };
  if (!(await mayStillAct())) return { outcome: 'not_allowed' };
  const { canReceive, passed } = check;
  await recordChange(audit.pool, audit, {
    action: 'webhook.check',
    subject: partnerId,
    after: { ...nameInAudit(partnerId, endpointId), can_receive: canReceive, passed },
  });
  const reEnabled = canReceive && (await reEnable(audit, partnerId, endpointId)) === 're_enabled';
  return { outcome: 'checked', check, reEnabled };
}

/** Checks under way: a second caller gets the same result, so that the receiver is not checked twice. */
const underWay = new Map<Id<'whe'>, Promise<WebhookCheck | undefined>>();

function checkOnce(
  deps: CheckDeps,
  partnerId: Id<'prt'>,
  endpointId: Id<'whe'>,
): Promise<WebhookCheck | undefined> {
  const running = underWay.get(endpointId);
  if (running) return running;
  const checking = runCheck(deps, partnerId, endpointId).finally(() => underWay.delete(endpointId));
  underWay.set(endpointId, checking);
  return checking;
}

async function runCheck(
  { audit, sender, vault }: CheckDeps,
  partnerId: Id<'prt'>,
  endpointId: Id<'whe'>,
): Promise<WebhookCheck | undefined> {
  const { pool, clock } = audit;
  const webhook = await findWebhook(pool, partnerId, endpointId);
  if (!webhook) return undefined;
  const secrets = await readSecrets(pool, vault, partnerId, clock.nowMs(), endpointId);
  return checkReceiver({ clock, sender }, { url: webhook.url, secrets });
}

/** As JSON, for the command line. */
export const checkObject = ({ results, canReceive, passed, tls }: WebhookCheck, reEnabled: boolean) => ({
  can_receive: canReceive,
  passed,
  re_enabled: reEnabled,
  tls: tls && { protocol: tls.protocol, valid_until: tls.validUntil },
  results: results.map(({ durationMs, ...result }) => ({ ...result, duration_ms: durationMs })),
});
