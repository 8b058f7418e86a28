import { Command, Option } from 'commander';
import type { Mode } from '../ledger/index.ts';
import {
  type ApiKey,
  createKey,
  keyIdOf,
  listKeys,
  revokeKey,
  setAllowedAddresses,
} from '../partners/index.ts';
import { addressRanges } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { details, formatInstant, type Output, table } from './output.ts';
import { find, findToChange } from './partner.ts';
import { noSuchPartner, RefusedError } from './refused.ts';

export function keyCommands(withDatabase: WithDatabase): Command {
  return new Command('key')
    .description('create, list and revoke API keys')
    .addCommand(
      command('create <partner>', 'create a key; it is shown only once')
        .addOption(modeOption())
        .option('--allow-ip <cidr>', 'allow only this IP address or range (repeatable)', addressRanges)
        .action((partner, { json, mode, allowIp }) =>
          withDatabase(json, context => create(context, partner, mode, allowIp ?? [])),
        ),
    )
    .addCommand(
      command('list <partner>', 'list the keys of a partner').action((partner, { json }) =>
        withDatabase(json, context => list(context, partner)),
      ),
    )
    .addCommand(
      command('revoke <key-id>', 'revoke a key immediately').action((typed, { json }) =>
        withDatabase(json, async ({ audit }) => {
          // A whole key is accepted too, but never printed again.
          const keyId = keyIdOf(typed) ?? typed;
          const revocation = await revokeKey(audit, keyId);
          if (revocation.outcome === 'no_key') throw noSuchKey(keyId);
          const before = revocation.outcome === 'already_revoked' ? 'already ' : '';
          return { json: describe(revocation.apiKey), text: `Key ${keyId} is ${before}revoked.` };
        }),
      ),
    )
    .addCommand(allowCommand(withDatabase));
}

async function create(
  context: CommandContext,
  partner: string,
  mode: Mode,
  allowedAddresses: string[],
): Promise<Output> {
  const { partnerId } = await findToChange(context, partner);
  const wanted = { partnerId, mode, allowedAddresses };
  const creation = await createKey(context.audit, context.secretKey, wanted);
  switch (creation.outcome) {
    case 'created':
      return {
        json: { ...describe(creation.apiKey), key: creation.key },
        text: `${details([
          ['key id', creation.apiKey.keyId],
          ['key', creation.key],
        ])}\nKeep the key secret, like a password. Only its hash is stored, so it cannot be shown again.`,
      };
    case 'no_partner':
      throw noSuchPartner(partner);
    case 'partner_suspended':
      throw new RefusedError(
        creation.outcome,
        `Partner ${partner} is suspended: run kopeck partner resume ${partnerId} first.`,
      );
    case 'not_approved':
      throw new RefusedError(
        creation.outcome,
        `Live mode is not approved for partner ${partner}: run kopeck partner approve ${partnerId} first.`,
      );
  }
}

async function list(context: CommandContext, partner: string): Promise<Output> {
  const { partnerId } = await find(context, partner);
  const keys = await listKeys(context.audit.pool, partnerId);
  return {
    json: { keys: keys.map(describe) },
    text: table(
      ['key id', 'mode', 'state', 'created (UTC)', 'last used (UTC)', 'allowed IP addresses'],
      keys.map(key => [
        key.keyId,
        key.mode,
        key.revokedAt ? 'revoked' : 'active',
        formatInstant(key.createdAt),
        formatInstant(key.lastUsedAt),
        key.allowedAddresses.join(', ') || 'any',
      ]),
    ),
  };
}

function allowCommand(withDatabase: WithDatabase): Command {
  const allow = command('allow <key-id>', 'change the allowed IP addresses of a key')
    .option('--allow-ip <cidr>', 'allow only this IP address or range (repeatable)', addressRanges)
    .option('--any', 'allow any IP address');
  return allow.action((typed, { json, allowIp, any }) => {
    if ((allowIp === undefined) === (any === undefined))
      allow.error('error: use either --allow-ip, once or more, or --any', { exitCode: 2 });
    return withDatabase(json, async ({ audit }) => {
      const keyId = keyIdOf(typed) ?? typed;
      const change = await setAllowedAddresses(audit, keyId, allowIp ?? []);
      if (change.outcome === 'no_key') throw noSuchKey(keyId);
      if (change.outcome === 'already_revoked')
        throw new RefusedError(
          change.outcome,
          `Key ${keyId} is revoked: its allowed IP addresses cannot be changed.`,
        );
      const addresses = change.apiKey.allowedAddresses.join(', ') || 'any';
      return { json: describe(change.apiKey), text: `Allowed IP addresses of key ${keyId}: ${addresses}.` };
    });
  });
}

const noSuchKey = (keyId: string) =>
  new RefusedError('no_key', `There is no key ${keyId}: see kopeck key list.`);

export const modeOption = () =>
  new Option('--mode <mode>', 'test or live').choices(['test', 'live']).makeOptionMandatory();

const describe = (key: ApiKey) => ({
  key_id: key.keyId,
  partner_id: key.partnerId,
  mode: key.mode,
  state: key.revokedAt ? 'revoked' : 'active',
  allowed_addresses: key.allowedAddresses,
  created_at: key.createdAt.toISOString(),
  revoked_at: key.revokedAt?.toISOString() ?? null,
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
});
