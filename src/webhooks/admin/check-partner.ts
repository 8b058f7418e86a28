import type { Id } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit.ts';
import type { Vault } from '../delivery/secret.ts';
import type { Sender } from '../http/send.ts';
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
 * Asks a partner's receiver; if it takes valid events and sending was suspended, sending goes on. Receivers take their
 * time: `mayStillAct` is asked when they have answered, before anything is changed.
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

/** Whoever comes while a receiver is being asked gets that answer, and it is not asked twice. */
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

/** For machines: what the command line answers. */
export const certificateObject = ({ results, canReceive, passed, tls }: Certificate, reEnabled: boolean) => ({
  can_receive: canReceive,
  passed,
  re_enabled: reEnabled,
  tls: tls && { protocol: tls.protocol, valid_until: tls.validUntil },
  results: results.map(({ durationMs, ...result }) => ({ ...result, duration_ms: durationMs })),
});
