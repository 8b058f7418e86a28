import { keyIdOf, maxRolledKeys, rollKey } from '../partners/index.ts';
import { overlap } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { describeKey, keepSecret, noSuchKey, tooManyKeyChanges } from './key-output.ts';
import { details, formatInstant, type Output } from './output.ts';
import { RefusedError } from './refused.ts';

const defaultOverlapMs = 86_400_000;

export const rollCommand = (withDatabase: WithDatabase) =>
  command('roll <key-id>', 'create a key in place of another, which stays valid for a while')
    .option('--overlap <time>', 'how long the old key stays valid, 0h to 7d; 24h by default', overlap)
    .action(withDatabase(roll));

const refusals = {
  already_revoked: 'is revoked',
  already_expired: 'has expired',
  already_rolled: 'was rolled already',
  partner_suspended: 'belongs to a suspended partner',
  no_partner: 'has no partner',
  not_approved: 'belongs to a partner whose live mode is not approved',
  too_many_rolled_keys: `belongs to a partner with ${maxRolledKeys} rolled keys that are still valid, the maximum: revoke one, or use --overlap 0h`,
  overlap_too_long: 'must not stay valid for more than 7 days',
} as const;

async function roll(
  { audit, keyring }: CommandContext,
  typed: string,
  { overlap: overlapMs = defaultOverlapMs }: { overlap?: number },
): Promise<Output> {
  const keyId = keyIdOf(typed) ?? typed;
  const rolled = await rollKey(audit, keyring, keyId, overlapMs);
  switch (rolled.outcome) {
    case 'rolled': {
      const { apiKey, key, old } = rolled;
      const shown = details({
        'key id': apiKey.keyId,
        key,
        'old key': `${keyId}, valid until ${formatInstant(old.expiresAt)} UTC`,
      });
      return {
        json: { ...describeKey(apiKey, audit.clock), key, old_key: describeKey(old, audit.clock) },
        text: `${shown}\n${keepSecret}`,
      };
    }
    case 'no_key':
      throw noSuchKey(keyId);
    case 'too_many_key_changes':
      throw tooManyKeyChanges();
    default:
      throw new RefusedError(
        rolled.outcome,
        `Key ${keyId} cannot be rolled: it ${refusals[rolled.outcome]}.`,
      );
  }
}
