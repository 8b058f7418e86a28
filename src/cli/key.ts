import type { Clock } from '../base/clock.ts';
import { programName } from '../base/program-name.ts';
import type { Mode } from '../ledger/index.ts';
import * as partners from '../partners/index.ts';
import { addressRanges, expiry, keyScopes, label, overlap, positiveRubles } from './arguments.ts';
import { type Context, choice, type DatabaseCommand, either, group } from './command.ts';
import { details, formatInstant, listing, noSuchPartner, RefusedError, refuse } from './output.ts';
import { find, findToChange } from './partner.ts';

export const keyCommands = (command: DatabaseCommand) =>
  group('key', 'create, list, roll and revoke API keys', [
    command('create <partner>', 'create a key; it is shown only once', create)
      .addOption(modeOption())
      .option('--allow-ip <cidr>', 'allow only this IP address or range (repeatable)', addressRanges)
      .option('--scope <scope>', 'read or pay (repeatable); both by default', keyScopes)
      .option('--label <text>', 'a name for people', label)
      .option('--expires <time>', 'when it expires: a time, or a number of days such as 90d', expiry)
      .option('--max-payment <rubles>', 'the most that one payment with it may be', positiveRubles)
      .option('--max-day <rubles>', 'the most that it may spend a day (UTC)', positiveRubles),
    command('list <partner>', 'list the keys of a partner', list),
    command('revoke <key-id>', 'revoke a key immediately', revoke),
    command('allow <key-id>', 'change the allowed IP addresses of a key', allow)
      .option('--allow-ip <cidr>', 'allow only this IP address or range (repeatable)', addressRanges)
      .option('--any', 'allow any IP address')
      .hook('preAction', either('allowIp', 'any', 'use either --allow-ip, once or more, or --any')),
    command('roll <key-id>', 'create a key in place of another, which stays valid for a while', roll).option(
      '--overlap <time>',
      'how long the old key stays valid, 0h to 7d; 24h by default',
      overlap,
    ),
  ]);

interface CreateOptions {
  mode: Mode;
  allowIp?: string[];
  scope?: partners.Scope[];
  label?: string;
  expires?: Date | number;
  maxPayment?: bigint;
  maxDay?: bigint;
}

async function create(context: Context, partner: string, options: CreateOptions) {
  const { partnerId } = await findToChange(context, partner);
  const { mode, allowIp: allowedAddresses = [], scope, label: chosenLabel = null, expires } = options;
  const { clock } = context.audit;
  const creation = await partners.createKey(context.audit, context.keyring, {
    partnerId,
    mode,
    allowedAddresses,
    label: chosenLabel,
    rights: {
      scopes: scope ?? partners.allRights.scopes,
      maxKopecks: options.maxPayment ?? null,
      dailyKopecks: options.maxDay ?? null,
    },
    expiresAt: typeof expires === 'number' ? new Date(clock.nowMs() + expires) : (expires ?? null),
  });
  if (creation.outcome === 'created')
    return {
      json: { ...describeKey(creation.apiKey, clock), key: creation.key },
      text: `${details({ 'key id': creation.apiKey.keyId, key: creation.key })}\n${keepSecret}`,
    };
  const reasons: Record<typeof creation.outcome, string> = {
    expiry_passed: 'The key would be expired already: choose a later time.',
    no_partner: noSuchPartner(partner).message,
    too_many_keys: `Partner ${partner} has ${partners.maxActiveKeys} active ${mode} keys, the maximum: run ${programName} key revoke for one that is not needed.`,
    too_many_key_changes: tooManyKeyChanges,
    partner_suspended: `Partner ${partner} is suspended: run ${programName} partner resume ${partnerId} first.`,
    not_approved: `Live mode is not approved for partner ${partner}: run ${programName} partner approve ${partnerId} first.`,
  };
  refuse(creation.outcome, reasons[creation.outcome]);
}

async function list(context: Context, partner: string) {
  const { partnerId } = await find(context, partner);
  const { pool, clock } = context.audit;
  const keys = (await partners.listKeys(pool, partnerId)).map(key => describeKey(key, clock));
  return listing({ keys }, 'keys', {
    'key id': 'key_id',
    label: 'label',
    mode: 'mode',
    state: 'state',
    scopes: 'scopes',
    'limits (RUB)': limitsText,
    'created (UTC)': 'created_at',
    'expires (UTC)': 'expires_at',
    'last used (UTC)': 'last_used_at',
    'allowed IP addresses': key => key.allowed_addresses.join(', ') || 'any',
  });
}

/** A whole key is accepted too, but never printed again. */
const keyIdIn = (typed: string) => partners.keyIdOf(typed) ?? typed;

async function revoke({ audit }: Context, typed: string) {
  const keyId = keyIdIn(typed);
  const revocation = await partners.revokeKey(audit, keyId);
  if (revocation.outcome === 'no_key') throw noSuchKey(keyId);
  const before = revocation.outcome === 'already_revoked' ? 'already ' : '';
  return {
    json: describeKey(revocation.apiKey, audit.clock),
    text: `Key ${keyId} is ${before}revoked.`,
  };
}

async function allow({ audit }: Context, typed: string, { allowIp = [] }: { allowIp?: string[] }) {
  const keyId = keyIdIn(typed);
  const change = await partners.setAllowedAddresses(audit, keyId, allowIp);
  if (change.outcome === 'no_key') throw noSuchKey(keyId);
  if (change.outcome === 'already_revoked')
    refuse(change.outcome, `Key ${keyId} is revoked: its allowed IP addresses cannot be changed.`);
  if (change.outcome === 'too_many_key_changes') refuse('too_many_key_changes', tooManyKeyChanges);
  const addresses = change.apiKey.allowedAddresses.join(', ') || 'any';
  return {
    json: describeKey(change.apiKey, audit.clock),
    text: `Allowed IP addresses of key ${keyId}: ${addresses}.`,
  };
}

export const modeOption = () => choice('--mode <mode>', 'test or live', ['test', 'live']);

const defaultOverlapMs = 86_400_000;

const rollRefusals = {
  already_revoked: 'is revoked',
  already_expired: 'has expired',
  already_rolled: 'was rolled already',
  partner_suspended: 'belongs to a suspended partner',
  no_partner: 'has no partner',
  not_approved: 'belongs to a partner whose live mode is not approved',
  too_many_rolled_keys: `belongs to a partner with ${partners.maxRolledKeys} rolled keys that are still valid, the maximum: revoke one, or use --overlap 0h`,
  overlap_too_long: 'must not stay valid for more than 7 days',
} as const;

async function roll(
  { audit, keyring }: Context,
  typed: string,
  { overlap: overlapMs = defaultOverlapMs }: { overlap?: number },
) {
  const keyId = keyIdIn(typed);
  const rolled = await partners.rollKey(audit, keyring, keyId, overlapMs);
  if (rolled.outcome === 'no_key') throw noSuchKey(keyId);
  if (rolled.outcome === 'too_many_key_changes') refuse(rolled.outcome, tooManyKeyChanges);
  if (rolled.outcome !== 'rolled')
    refuse(rolled.outcome, `Key ${keyId} cannot be rolled: it ${rollRefusals[rolled.outcome]}.`);
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

const keepSecret =
  'Keep the key secret, like a password. Only its hash is stored, so it cannot be shown again.';

const noSuchKey = (keyId: string) =>
  new RefusedError('no_key', `There is no key ${keyId}: see ${programName} key list.`);

const tooManyKeyChanges =
  'The keys of this partner were changed too often today: try again tomorrow (UTC). A key can still be revoked.';

function limitsText({ max_payment_rub: payment, max_day_rub: day }: ReturnType<typeof describeKey>): string {
  return [payment && `${payment} a payment`, day && `${day} a day`].filter(Boolean).join(', ') || 'none';
}

const describeKey = (key: partners.ApiKey, clock: Clock) => ({
  partner_id: key.partnerId,
  ...partners.keyObject(key, clock),
});
