import type { Mode } from '../../../ledger/index.ts';
import {
  type ApiKey,
  createKey,
  isAddressRange,
  type KeyCreation,
  keyState,
  listKeys,
  maxActiveKeys,
  revokeKey,
  roleIncludes,
  type WantedKey,
} from '../../../partners/index.ts';
import type { Texts } from '../../texts/index.ts';
import { ask, callbackData, canStillAct, type PartnerContext, send, show } from '../chat-context.ts';
import { sendSecretMessage } from '../secret-message.ts';
import type { Menu } from './menu.ts';

/** A message holds no more; the command line shows all. */
const maxShown = 20;
const maxAddresses = 20;

export async function showKeys(chat: PartnerContext): Promise<void> {
  const { texts, partner, deps } = chat;
  const keys = (await listKeys(deps.pool, partner.partnerId)).filter(
    key => keyState(key, deps.clock) === 'active',
  );
  const shown = keys.slice(-maxShown);
  await show(chat, {
    text: texts.keys.list(shown),
    buttons: [
      ...shown.map(key => [{ text: texts.keys.name(key), data: callbackData('kv', partner, key.keyId) }]),
      [
        { text: texts.keys.create('test'), data: callbackData('kn', partner, 'test') },
        { text: texts.keys.create('live'), data: callbackData('kn', partner, 'live') },
      ],
      [{ text: texts.keys.createLimited, data: callbackData('kl', partner) }],
      [{ text: texts.back, data: callbackData('h', partner) }],
    ],
  });
}

/** An active key of this partner; undefined for the keys of others. */
export async function findKey({ deps, partner }: PartnerContext, keyId: string): Promise<ApiKey | undefined> {
  const keys = await listKeys(deps.pool, partner.partnerId);
  return keys.find(key => key.keyId === keyId && keyState(key, deps.clock) === 'active');
}

export async function showKey(chat: PartnerContext, keyId: string): Promise<void> {
  const key = await findKey(chat, keyId);
  if (!key) return showKeys(chat);
  const { texts, partner } = chat;
  await show(chat, {
    text: texts.keys.details(key),
    buttons: [
      [{ text: texts.keys.allow, data: callbackData('ka', partner, keyId) }],
      ...(key.rolledTo ? [] : [[{ text: texts.keys.roll, data: callbackData('ko', partner, keyId) }]]),
      [{ text: texts.keys.revoke, data: callbackData('kr', partner, keyId) }],
      [{ text: texts.back, data: callbackData('k', partner) }],
    ],
  });
}

/** A live key spends the balance, so only an owner creates one. */
export const roleFor = (mode: Mode) => (mode === 'live' ? 'owner' : 'developer');

async function askForAddresses(chat: PartnerContext, mode: string, wrong?: string): Promise<void> {
  const { texts, partner } = chat;
  if (mode !== 'live' && mode !== 'test') return;
  if (!roleIncludes(chat.role, roleFor(mode))) {
    chat.toast = texts.notAllowed(roleFor(mode));
    return;
  }
  if (mode === 'live' && !partner.liveApproved) {
    chat.toast = texts.keys.notApproved;
    return;
  }
  await ask(chat, {
    step: 'key_addresses',
    partnerId: partner.partnerId,
    args: [mode],
    text: wrong ?? texts.keys.askAddresses(mode),
    confirm: texts.keys.anyAddress,
    back: callbackData('k', partner),
  });
}

/** Undefined if it is not a list of addresses, or is too long. */
export function readAddresses(typed: string): string[] | undefined {
  const addresses = typed.split(/[\s,;]+/).filter(Boolean);
  const fine = addresses.length > 0 && addresses.length <= maxAddresses;
  return fine && addresses.every(isAddressRange) ? addresses : undefined;
}

function reasonOf(texts: Texts, outcome: Exclude<KeyCreation['outcome'], 'created'>): string {
  switch (outcome) {
    case 'not_approved':
      return texts.keys.notApproved;
    case 'too_many_keys':
      return texts.keys.tooMany(maxActiveKeys);
    case 'too_many_key_changes':
      return texts.keys.tooManyChanges;
    default:
      return texts.partner.suspended;
  }
}

/** False if no key could be created; the user gets the reason. */
export async function createKeyAndShow(
  chat: PartnerContext,
  mode: Mode,
  allowedAddresses: string[],
  more: Partial<WantedKey> = {},
): Promise<boolean> {
  const { texts, deps, partner } = chat;
  const wanted = { ...more, partnerId: partner.partnerId, mode, allowedAddresses };
  const message = await sendSecretMessage(chat);
  if (!(await canStillAct(chat, roleFor(mode)))) {
    await message.discard();
    return false;
  }
  const creation = await createKey(chat.audit, deps.keyring, wanted);
  if (creation.outcome === 'created') {
    await message.reveal(texts.keys.created(creation.key)).catch(async error => {
      // It is not certain that anybody saw the key.
      await revokeKey(chat.audit, creation.apiKey.keyId);
      throw error;
    });
    return true;
  }
  await message.discard();
  await send(chat, {
    text: reasonOf(texts, creation.outcome),
    buttons: [[{ text: texts.back, data: callbackData('k', partner) }]],
  });
  return false;
}

export async function createFor(
  chat: PartnerContext,
  mode: string,
  addresses: string[],
  more: Partial<WantedKey> = {},
): Promise<void> {
  if (mode !== 'live' && mode !== 'test') return;
  if (!roleIncludes(chat.role, roleFor(mode))) {
    chat.toast = chat.texts.notAllowed(roleFor(mode));
    return;
  }
  if (!(await createKeyAndShow(chat, mode, addresses, more))) return;
  // Below the key, so that both are visible.
  await showKeys({ ...chat, pressedMessageId: undefined });
}

export const keys: Menu = {
  actions: {
    k: { role: 'developer', run: showKeys },
    kv: { role: 'developer', run: (chat, keyId = '') => showKey(chat, keyId) },
    kn: { role: 'developer', run: (chat, mode = '') => askForAddresses(chat, mode) },
    kr: {
      role: 'developer',
      run: async (chat, keyId = '') => {
        const key = await findKey(chat, keyId);
        if (!key) return showKeys(chat);
        if (!roleIncludes(chat.role, roleFor(key.mode))) {
          chat.toast = chat.texts.notAllowed(roleFor(key.mode));
          return;
        }
        await ask(chat, {
          step: 'key_revoke',
          partnerId: chat.partner.partnerId,
          args: [keyId],
          text: chat.texts.keys.askRevoke(key),
          confirm: chat.texts.keys.revoke,
          back: callbackData('kv', chat.partner, keyId),
        });
      },
    },
  },
  steps: {
    key_addresses: {
      role: 'developer',
      answer: async (chat, [mode = ''], typed) => {
        const addresses = readAddresses(typed);
        if (!addresses) return askForAddresses(chat, mode, chat.texts.keys.badAddresses);
        await createFor(chat, mode, addresses);
      },
      confirm: (chat, [mode = '']) => createFor(chat, mode, []),
    },
    key_revoke: {
      role: 'developer',
      confirm: async (chat, [keyId = '']) => {
        const key = await findKey(chat, keyId);
        const isAllowed = key && roleIncludes(chat.role, roleFor(key.mode));
        if (isAllowed) await revokeKey(chat.audit, keyId);
        chat.toast = isAllowed ? chat.texts.keys.revoked : chat.texts.outdated;
        await showKeys(chat);
      },
    },
  },
};
