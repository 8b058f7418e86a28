import type { Id } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit.ts';
import type { Vault } from '../delivery/secret.ts';
import type { Sender } from '../http/sender.ts';
import { type Certificate, certify } from './check.ts';
import { findWebhook, readSecrets, reEnable } from './webhook.ts';

export type PartnerCheck =
  | { outcome: 'checked'; certificate: Certificate; reEnabled: boolean }
  | { outcome: 'no_webhook' | 'not_allowed' };

interface CheckDeps {
  audit: AuditContext;
  sender: Sender;
  vault: Vault;
}

const always = async () => true;

/**
 * Checks a partner's receiver. If it accepts valid events, a suspension ends. A check takes long, so `mayStillAct` is
 * called after it, before anything changes.
 */
export async function checkPartner(
  deps: CheckDeps,
  partnerId: Id<'prt'>,
  mayStillAct: () => Promise<boolean> = always,
): Promise<PartnerCheck> {
  const { audit } = deps;
  const certificate = await askOnce(deps, partnerId);
  if (!certificate) return { outcome: 'no_webhook' };
  if (!(await mayStillAct())) return { outcome: 'not_allowed' };
  const { canReceive, passed } = certificate;
  await recordChange(audit.pool, audit, {
    action: 'webhook.check',
    subject: partnerId,
    after: { can_receive: canReceive, passed },
  });
  const reEnabled = canReceive && (await reEnable(audit, partnerId)) === 're_enabled';
  return { outcome: 'checked', certificate, reEnabled };
}

/** Checks under way: a second caller gets the same result, so that the receiver is not asked twice. */
const underWay = new Map<Id<'prt'>, Promise<Certificate | undefined>>();

function askOnce(deps: CheckDeps, partnerId: Id<'prt'>): Promise<Certificate | undefined> {
  const running = underWay.get(partnerId);
  if (running) return running;
  const asking = askReceiver(deps, partnerId).finally(() => underWay.delete(partnerId));
  underWay.set(partnerId, asking);
  return asking;
}

async function askReceiver(
  { audit, sender, vault }: CheckDeps,
  partnerId: Id<'prt'>,
): Promise<Certificate | undefined> {
  const { pool, clock } = audit;
  const webhook = await findWebhook(pool, partnerId);
  if (!webhook) return undefined;
  const secrets = await readSecrets(pool, vault, partnerId, clock.nowMs());
  return certify({ clock, sender }, { url: webhook.url, secrets });
}

/** As JSON, for the command line. */
export const certificateObject = ({ results, canReceive, passed, tls }: Certificate, reEnabled: boolean) => ({
  can_receive: canReceive,
  passed,
  re_enabled: reEnabled,
  tls: tls && { protocol: tls.protocol, valid_until: tls.validUntil },
  results: results.map(({ durationMs, ...result }) => ({ ...result, duration_ms: durationMs })),
});
