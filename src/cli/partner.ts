import { Option } from 'commander';
import { parseId } from '../base/ids.ts';
import { formatKopecks, formatMicroUsdt } from '../base/money.ts';
import { programName } from '../base/program-name.ts';
import { type Balances, readBalances } from '../ledger/index.ts';
import * as partners from '../partners/index.ts';
import { label, positiveCount, positiveRubles, rublesOrNone } from './arguments.ts';
import { type Context, type DatabaseCommand, group } from './command.ts';
import { details, formatInstant, listing, noSuchPartner, refuse, table } from './output.ts';

export const partnerCommands = (command: DatabaseCommand) =>
  group('partner', 'manage partners and their limits', [
    command('create', 'create a partner with a test balance', create).requiredOption(
      '--name <name>',
      'partner name',
      label,
    ),
    command('list', 'list all partners', list),
    command('show <partner>', 'show state, limits and balances of a partner', async (context, partner) =>
      show(context, await find(context, partner)),
    ),
    command('suspend <partner>', 'reject all requests of a partner', changeSuspension(true)).option(
      '--reason <reason>',
      'why; stored in the audit log',
      label,
    ),
    command('resume <partner>', 'accept requests of a suspended partner again', changeSuspension(false)),
    command('approve <partner>', 'approve live mode for a partner that signed up in the bot', approve),
    command(
      'invite <partner>',
      'invite a person to the team of a partner, in the bot',
      inviteMember,
    ).addOption(
      new Option('--role <role>', 'role in the team').choices(partners.memberRoles).default('owner'),
    ),
    command('limits <partner>', 'show or change the limits of a partner', showOrChangeLimits)
      .option('--min-rub <rub>', 'minimum amount of a payment', positiveRubles)
      .option('--max-rub <rub>', 'maximum amount of a payment', positiveRubles)
      .option('--daily-rub <rub>', 'limit per UTC day, or "none"', rublesOrNone)
      .option('--concurrent <count>', 'concurrent payments', positiveCount)
      .option('--create-rps <count>', 'new payments per second', positiveCount)
      .option('--create-burst <count>', 'new payments in a burst', positiveCount)
      .option('--other-rps <count>', 'other requests per second', positiveCount),
  ]);

async function create(context: Context, { name }: { name: string }) {
  const partner = await partners.createPartner(context.audit, name);
  return {
    json: await describe(context, partner),
    text: `Created ${partner.partnerId} (${name}).\nNext: ${programName} key create ${partner.partnerId} --mode test`,
  };
}

async function list({ audit }: Context) {
  const all = (await partners.listPartners(audit.pool)).map(summary);
  const columns = {
    partner: 'partner_id',
    name: 'name',
    state: 'state',
    'created (UTC)': 'created_at',
  } as const;
  return listing({ partners: all }, 'partners', columns);
}

async function inviteMember(context: Context, partner: string, { role }: { role: partners.MemberRole }) {
  const { partnerId } = await findToChange(context, partner);
  const start = `/start inv_${await partners.invite(context.audit, partnerId, null, role)}`;
  return {
    json: { partner_id: partnerId, role, start },
    text: `${start}\nThe first person who sends this to the bot within 24 hours joins ${partnerId} as ${role}.`,
  };
}

interface GivenLimits extends Partial<Omit<partners.Limits, 'minKopecks' | 'maxKopecks' | 'dailyKopecks'>> {
  minRub?: bigint;
  maxRub?: bigint;
  dailyRub?: bigint | 'none';
}

async function showOrChangeLimits(
  context: Context,
  partner: string,
  { minRub, maxRub, dailyRub, ...counts }: GivenLimits,
) {
  const dailyKopecks = dailyRub === 'none' ? null : dailyRub;
  const given = { minKopecks: minRub, maxKopecks: maxRub, dailyKopecks, ...counts };
  const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return Object.keys(changes).length > 0
    ? changeLimits(context, partner, changes)
    : show(context, await find(context, partner));
}

async function changeLimits(context: Context, typed: string, changes: Partial<partners.Limits>) {
  const { partnerId } = await findToChange(context, typed);
  const change = await partners.setLimits(context.audit, partnerId, changes);
  if (change.outcome === 'done') return show(context, change.partner);
  if (change.outcome === 'no_partner') throw noSuchPartner(typed);
  const { minKopecks, maxKopecks } = change.limits;
  return refuse(
    'min_above_max',
    `The minimum amount (${formatKopecks(minKopecks)} RUB) would exceed the maximum amount (${formatKopecks(maxKopecks)} RUB): change both.`,
  );
}

type Change = { outcome: string; partner: partners.Partner } | { outcome: 'no_partner' };

/** Describes the partner after a change. */
async function changed(context: Context, typed: string, change: Change, textOf: (name: string) => string) {
  if (!('partner' in change)) throw noSuchPartner(typed);
  const { partner } = change;
  return { json: await describe(context, partner), text: textOf(`${partner.name} (${partner.partnerId})`) };
}

const changeSuspension =
  (suspended: boolean) =>
  async (context: Context, typed: string, { reason }: { reason?: string }) => {
    const { partnerId } = await findToChange(context, typed);
    const change = await partners.setSuspended(context.audit, partnerId, suspended, reason);
    return changed(context, typed, change, name => `${name} is ${suspended ? 'suspended' : 'active'}.`);
  };

async function approve(context: Context, typed: string) {
  const { partnerId } = await findToChange(context, typed);
  const decision = await partners.approveLive(context.audit, partnerId);
  return changed(context, typed, decision, name => `Live mode is approved for ${name}.`);
}

/**
 * The partner with this id, for commands that change something. Partners choose their names themselves, so that a name may look
 * like that of another one.
 */
export async function findToChange(context: Context, typed: string): Promise<partners.Partner> {
  const partner = await find(context, typed);
  if (partner.partnerId !== typed)
    refuse(
      'partner_id_required',
      `Names are chosen by partners, so a change needs the ID. ${partner.name} is ${partner.partnerId}: use that if it is the right one.`,
    );
  return partner;
}

/** The partner with this id, or the only one with this name, for commands that only read. */
export async function find({ audit }: Context, typed: string): Promise<partners.Partner> {
  const partnerId = parseId('prt', typed);
  const found = partnerId
    ? await partners.findPartner(audit.pool, partnerId)
    : await partners.findPartnersByName(audit.pool, typed.trim());
  const [partner, ...others] = [found ?? []].flat();
  if (!partner) throw noSuchPartner(typed);
  const ids = [partner, ...others].map(one => one.partnerId).join(' or ');
  if (others.length > 0)
    refuse('several_partners', `Several partners have the name ${typed}: use the ID of one, ${ids}.`);
  return partner;
}

const summary = (partner: partners.Partner) => ({
  partner_id: partner.partnerId,
  name: partner.name,
  state: partner.suspended ? 'suspended' : 'active',
  created_at: partner.createdAt.toISOString(),
});

async function describe({ audit }: Context, partner: partners.Partner) {
  const { limits } = partner;
  const balances = await readBalances(audit.pool, partner.partnerId);
  // Loaded only here: webhooks know of payments, and these of most of the service.
  const { findWebhook } = await import('../webhooks/index.ts');
  const { webhookObject } = await import('./webhook-choice.ts');
  const webhook = await findWebhook(audit.pool, partner.partnerId);
  const inUsdt = (balance: Balances) => ({
    balance_usdt: formatMicroUsdt(balance.availableMicroUsdt),
    held_usdt: formatMicroUsdt(balance.heldMicroUsdt),
    settled_usdt: formatMicroUsdt(balance.settledMicroUsdt),
  });
  return {
    ...summary(partner),
    live_approved: partner.liveApproved,
    limits: partners.limitsObject(limits),
    balances: { live: inUsdt(balances.live), test: inUsdt(balances.test) },
    webhook: webhook ? webhookObject(webhook) : null,
  };
}

async function show(context: Context, partner: partners.Partner) {
  const json = await describe(context, partner);
  const { limits, balances, webhook } = json;
  const identity = details({
    partner: json.partner_id,
    name: json.name,
    state: json.state,
    'live mode': json.live_approved ? 'approved' : `not approved: see ${programName} partner approve`,
    created: `${formatInstant(partner.createdAt)} UTC`,
    'amount per payment': `${limits.min_rub} to ${limits.max_rub} RUB`,
    'daily limit': limits.daily_rub ? `${limits.daily_rub} RUB` : 'none',
    'concurrent payments': limits.concurrent,
    'rate limits': `${limits.create_rps}/s for new payments (burst ${limits.create_burst}), ${limits.other_rps}/s for other requests`,
    webhook: webhook ? `${webhook.url} (${webhook.state}, ${webhook.waiting} pending)` : 'none',
  });
  const money = table(['live', 'test'] as const, mode => ({
    mode,
    'available USDT': balances[mode].balance_usdt,
    'on hold': balances[mode].held_usdt,
    settled: balances[mode].settled_usdt,
  }));
  return { json, text: `${identity}\n\n${money}` };
}
