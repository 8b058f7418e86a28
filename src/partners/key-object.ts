import type { Clock } from '../base/clock.ts';
import { rightsObject } from './key-rights.ts';
import { type ApiKey, keyState } from './keys.ts';

/** A key as the console and the command line show it. */
export const keyObject = (key: ApiKey, clock: Clock) => ({
  key_id: key.keyId,
  label: key.label,
  mode: key.mode,
  state: keyState(key, clock),
  ...rightsObject(key.rights),
  allowed_addresses: key.allowedAddresses,
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt?.toISOString() ?? null,
  rolled_to: key.rolledTo,
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});
