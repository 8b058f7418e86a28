import { instantOf } from '../../base/clock.ts';
import { uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { transaction } from '../../db/postgres/index.ts';
import type { Keyring } from '../../db/secrets/index.ts';
import { ensureSigningRoot } from '../signing/signing-keys.ts';
import { nameInAudit, type Webhook } from './webhook.ts';

/** Whether requests to the endpoint are also signed with the partner's Ed25519 key. */
export function setEd25519(
  audit: AuditContext,
  keyring: Keyring,
  { partnerId, endpointId }: Pick<Webhook, 'partnerId' | 'endpointId'>,
  isOn: boolean,
): Promise<'set' | 'no_webhook'> {
  return transaction(audit.pool, async tx => {
    if (isOn) await ensureSigningRoot(tx, audit, keyring);
    const { rowCount } = await tx.query({
      text: `UPDATE endpoints SET ed25519 = $3, changed_at = $4 WHERE partner_id = $1 AND endpoint_id = $2`,
      values: [uuidFromId(partnerId), uuidFromId(endpointId), isOn, instantOf(audit.clock)],
    });
    if (rowCount === 0) return 'no_webhook';
    await recordChange(tx, audit, {
      action: 'webhook.ed25519',
      subject: partnerId,
      after: { ...nameInAudit(partnerId, endpointId), ed25519: isOn },
    });
    return 'set';
  });
}
