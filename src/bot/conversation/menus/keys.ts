import type { Mode } from '../../../ledger/index.ts';
import * as partners from '../../../partners/index.ts';
import type { Texts } from '../../texts/index.ts';
import { ask, backTo, button, type PartnerContext, send, show } from '../chat-context.ts';
import { sendSecretMessage } from '../secret-message.ts';
import type { Menu, PartnerAction, PartnerStep } from './menu.ts';

/** A message holds no more; the command line shows all. */
const maxShown = 20;
const maxAddresses = 20;

async function listActive({ deps, partner }: PartnerContext): Promise<partners.ApiKey[]> {
  const keys = await partners.listKeys(deps.pool, partner.partnerId);
  return keys.filter(key => partners.keyState(key, deps.clock) === 'active');
}

export async function showKeys(chat: PartnerContext): Promise<void> {
  const texts = chat.texts.keys;
  const shown = (await listActive(chat)).slice(-maxShown);
  await show(chat, texts.list(shown), [
    ...shown.map(key => [button(chat, texts.name(key), 'kv', key.keyId)]),
    [button(chat, texts.create('test'), 'kn', 'test'), button(chat, texts.create('live'), 'kn', 'live')],
    [button(chat, texts.createLimited, 'kl')],
    backTo(chat, 'h'),
  ]);
}

/** An active key of this partner; undefined for the keys of others. */
export const findKey = async (chat: PartnerContext, keyId: string): Promise<partners.ApiKey | undefined> =>
  (await listActive(chat)).find(key => key.keyId === keyId);

async function showKey(chat: PartnerContext, keyId = ''): Promise<void> {
  const key = await findKey(chat, keyId);
  if (!key) return showKeys(chat);
  const texts = chat.texts.keys;
  await show(chat, texts.details(key), [
    [button(chat, texts.allow, 'ka', keyId)],
    ...(key.rolledTo ? [] : [[button(chat, texts.roll, 'ko', keyId)]]),
    [button(chat, texts.revoke, 'kr', keyId)],
    backTo(chat, 'k'),
  ]);
}

/** A live key spends the balance, so only an owner creates one. */
export const rightFor = (mode: Mode) => (mode === 'live' ? 'own' : 'integrate');

/** Whether the member may create and change keys of this mode; otherwise the user sees which roles may. */
export function mayManage(chat: PartnerContext, mode: Mode): boolean {
  if (partners.hasRight(chat.role, rightFor(mode))) return true;
  chat.toast = chat.texts.notAllowed(rightFor(mode));
  return false;
}

/** A button about a key that the member may change. */
const onKey =
  (run: (chat: PartnerContext, key: partners.ApiKey) => Promise<void>): PartnerAction =>
  async (chat, keyId = '') => {
    const key = await findKey(chat, keyId);
    if (!key) return showKeys(chat);
    if (mayManage(chat, key.mode)) await run(chat, key);
  };

/** Undefined if it is not a list of addresses, or is too long. */
function readAddresses(typed: string): string[] | undefined {
  const addresses = typed.split(/[\s,;]+/).filter(Boolean);
  const fine = addresses.length > 0 && addresses.length <= maxAddresses;
  return fine && addresses.every(partners.isAddressRange) ? addresses : undefined;
}

/** The answer to a question for addresses: they are typed, or the button allows all. A list that is none is asked for again. */
export const addressStep = (
  askAgain: (chat: PartnerContext, args: string[], wrong: string) => Promise<void>,
  use: (chat: PartnerContext, args: string[], addresses: string[]) => Promise<void>,
): PartnerStep => ({
  answer: (chat, typed, ...args) => {
    const addresses = readAddresses(typed);
    return addresses ? use(chat, args, addresses) : askAgain(chat, args, chat.texts.keys.badAddresses);
  },
  confirm: (chat, ...args) => use(chat, args, []),
});

function reasonOf({ keys, partner }: Texts, outcome: partners.KeyCreation['outcome']): string {
  if (outcome === 'not_approved') return keys.notApproved;
  if (outcome === 'too_many_keys') return keys.tooMany(partners.maxActiveKeys);
  return outcome === 'too_many_key_changes' ? keys.tooManyChanges : partner.suspendedKeys;
}

/** False if no key could be created; the user gets the reason. */
export async function createKeyAndShow(
  chat: PartnerContext,
  mode: Mode,
  allowedAddresses: string[],
  more: Partial<partners.WantedKey> = {},
): Promise<boolean> {
  const { texts, deps, partner } = chat;
  const wanted = { ...more, partnerId: partner.partnerId, mode, allowedAddresses };
  const message = await sendSecretMessage(chat, rightFor(mode));
  if (!message) return false;
  const creation = await partners.createKey(chat.audit, deps.keyring, wanted);
  if (creation.outcome === 'created') {
    await message.reveal(texts.keys.created(creation.key)).catch(async error => {
      // It is not certain that anybody saw the key.
      await partners.revokeKey(chat.audit, creation.apiKey.keyId);
      throw error;
    });
    return true;
  }
  await message.discard();
  await send(chat, reasonOf(texts, creation.outcome), [backTo(chat, 'k')]);
  return false;
}

const askToRevoke = onKey((chat, key) => {
  const { askRevoke, revoke } = chat.texts.keys;
  const args = [key.keyId];
  const question = { step: 'key_revoke', args, text: askRevoke(key), confirm: revoke };
  return ask(chat, { ...question, back: ['kv', ...args] });
});

async function revoke(chat: PartnerContext, keyId = ''): Promise<void> {
  const key = await findKey(chat, keyId);
  const isAllowed = key && partners.hasRight(chat.role, rightFor(key.mode));
  if (isAllowed) await partners.revokeKey(chat.audit, keyId);
  chat.toast = isAllowed ? chat.texts.keys.revoked : chat.texts.outdated;
  await showKeys(chat);
}

const askForAllowed = (chat: PartnerContext, keyId?: string, wrong?: string) =>
  onKey((_, key) => {
    const { askAllowed, anyAddress } = chat.texts.keys;
    const shown = {
      text: wrong ?? askAllowed(key),
      confirm: anyAddress,
      back: ['kv', key.keyId] satisfies [string, string],
    };
    return ask(chat, { step: 'key_allow', args: [key.keyId], ...shown });
  })(chat, keyId ?? '');

/** Changes the allowed addresses of an existing key. */
async function allow(chat: PartnerContext, [keyId = '']: string[], addresses: string[]): Promise<void> {
  const key = await findKey(chat, keyId);
  const isAllowed = key && partners.hasRight(chat.role, rightFor(key.mode));
  const outcome = isAllowed
    ? (await partners.setAllowedAddresses(chat.audit, keyId, addresses)).outcome
    : undefined;
  if (outcome === 'too_many_key_changes') chat.toast = chat.texts.keys.tooManyChanges;
  else chat.toast = isAllowed ? chat.texts.keys.allowed : chat.texts.outdated;
  await showKey(chat, keyId);
}

export const keys: Menu = {
  integrate: {
    actions: {
      k: showKeys,
      kv: showKey,
      kr: askToRevoke,
      ka: (chat, keyId) => askForAllowed(chat, keyId),
    },
    steps: {
      key_revoke: { confirm: revoke },
      key_allow: addressStep((chat, [keyId], wrong) => askForAllowed(chat, keyId, wrong), allow),
    },
  },
};
