import { instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { type Queryable, transaction } from '../../db/postgres/index.ts';
import { newSecret, type Vault } from '../delivery/secret.ts';
import { firstEndpointOf, subjectOf } from '../first-endpoint.ts';
import { lockEndpoint } from './locks.ts';
import { notifyOfChange } from './notices.ts';
import { findWebhook, nameInAudit, type Webhook } from './webhook.ts';

type EndpointRef = Pick<Webhook, 'partnerId' | 'endpointId'>;

interface SecretRow {
  secret: Buffer;
  old_secret: Buffer | null;
  old_secret_until: Date | null;
}

/** The secrets in force, the newest first. */
export function decryptSecrets(vault: Vault, endpoint: EndpointRef, row: SecretRow, nowMs: number): string[] {
  const open = (sealed: Buffer) => vault.decrypt(sealed, subjectOf(endpoint));
  const isOldInForce = row.old_secret !== null && row.old_secret_until!.getTime() > nowMs;
  return [open(row.secret), ...(isOldInForce ? openIfPossible(open, row.old_secret!) : [])];
}

/** A secret that cannot be opened is replaced by a forced rotation, which leaves it behind as the old one. */
function openIfPossible(open: (sealed: Buffer) => string, sealed: Buffer): string[] {
  try {
    return [open(sealed)];
  } catch {
    return [];
  }
}

export async function readSecrets(
  db: Queryable,
  vault: Vault,
  partnerId: Id<'prt'>,
  nowMs: number,
  endpointId: Id<'whe'> = firstEndpointOf(partnerId),
): Promise<string[]> {
  const { rows } = await db.query<SecretRow>({
    text: `SELECT secret, old_secret, old_secret_until FROM endpoints WHERE partner_id = $1 AND endpoint_id = $2`,
    values: [uuidFromId(partnerId), uuidFromId(endpointId)],
  });
  return rows[0] ? decryptSecrets(vault, { partnerId, endpointId }, rows[0], nowMs) : [];
}

const overlapMs = 24 * 3_600_000;

/** A new secret; for a day the old one signs as well, so that the receiver can change over without a gap. */
export function rotateSecret(
  audit: AuditContext,
  vault: Vault,
  partnerId: Id<'prt'>,
  { force = false, endpointId = firstEndpointOf(partnerId) } = {},
): Promise<'rotated' | 'no_webhook' | 'overlap'> {
  return transaction(audit.pool, async tx => {
    await lockEndpoint(tx, partnerId, endpointId);
    const known = await findWebhook(tx, partnerId, endpointId);
    if (!known) return 'no_webhook';
    // A third secret would end the first one at once, and the receiver may still use it.
    if (!force && known.oldSecretUntil && known.oldSecretUntil.getTime() > audit.clock.nowMs())
      return 'overlap';
    const until = new Date(audit.clock.nowMs() + overlapMs);
    const sealed = vault.seal(newSecret(), subjectOf({ partnerId, endpointId }));
    await tx.query({
      text: `UPDATE endpoints SET old_secret = secret, old_secret_until = $3, secret = $2, changed_at = $4
              WHERE partner_id = $5 AND endpoint_id = $1`,
      values: [uuidFromId(endpointId), sealed, until, instantOf(audit.clock), uuidFromId(partnerId)],
    });
    await recordChange(tx, audit, {
      action: 'webhook.rotate',
      subject: partnerId,
      after: { ...nameInAudit(partnerId, endpointId), old_secret_until: until },
    });
    await notifyOfChange(tx, audit, 'endpoint_secret_rotated', known);
    return 'rotated';
  });
}
