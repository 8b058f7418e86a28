import type { Id } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit.ts';
import type { Vault } from '../delivery/secret.ts';
import type { Sender } from '../http/sender.ts';
import { checkReceiver, type WebhookCheck } from './check.ts';
import { findWebhook, readSecrets, reEnable } from './webhook.ts';

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
 * Checks a partner's receiver. If it accepts valid events, a suspension ends. A check is slow, so `mayStillAct` is
 * called after it, before anything changes.
 */
export async function checkPartner(
  deps: CheckDeps,
  partnerId: Id<'prt'>,
  mayStillAct: () => Promise<boolean> = always,
): Promise<PartnerCheck> {
  const { audit } = deps;
  const check = await checkOnce(deps, partnerId);
  if (!check) return { outcome: 'no_webhook' };
  if (!(await mayStillAct())) return { outcome: 'not_allowed' };
  const { canReceive, passed } = check;
  await recordChange(audit.pool, audit, {
    action: 'webhook.check',
    subject: partnerId,
    after: { can_receive: canReceive, passed },
  });
  const reEnabled = canReceive && (await reEnable(audit, partnerId)) === 're_enabled';
  return { outcome: 'checked', check, reEnabled };
}

/** Checks under way: a second caller gets the same result, so that the receiver is not checked twice. */
const underWay = new Map<Id<'prt'>, Promise<WebhookCheck | undefined>>();

function checkOnce(deps: CheckDeps, partnerId: Id<'prt'>): Promise<WebhookCheck | undefined> {
  const running = underWay.get(partnerId);
  if (running) return running;
  const checking = runCheck(deps, partnerId).finally(() => underWay.delete(partnerId));
  underWay.set(partnerId, checking);
  return checking;
}

async function runCheck(
  { audit, sender, vault }: CheckDeps,
  partnerId: Id<'prt'>,
): Promise<WebhookCheck | undefined> {
  const { pool, clock } = audit;
  const webhook = await findWebhook(pool, partnerId);
  if (!webhook) return undefined;
  const secrets = await readSecrets(pool, vault, partnerId, clock.nowMs());
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
