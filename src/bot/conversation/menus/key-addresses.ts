import { roleIncludes, setAllowedAddresses } from '../../../partners/index.ts';
import { ask, callbackData, type PartnerContext } from '../chat-context.ts';
import { findKey, readAddresses, roleFor, showKey, showKeys } from './keys.ts';
import type { Menu } from './menu.ts';

async function askForAllowed(chat: PartnerContext, keyId: string, wrong?: string): Promise<void> {
  const { texts, partner } = chat;
  const key = await findKey(chat, keyId);
  if (!key) return showKeys(chat);
  if (!roleIncludes(chat.role, roleFor(key.mode))) {
    chat.toast = texts.notAllowed(roleFor(key.mode));
    return;
  }
  await ask(chat, {
    step: 'key_allow',
    partnerId: partner.partnerId,
    args: [keyId],
    text: wrong ?? texts.keys.askAllowed(key),
    confirm: texts.keys.anyAddress,
    back: callbackData('kv', partner, keyId),
  });
}

async function allow(chat: PartnerContext, keyId: string, addresses: string[]): Promise<void> {
  const key = await findKey(chat, keyId);
  const isAllowed = key && roleIncludes(chat.role, roleFor(key.mode));
  const outcome = isAllowed ? (await setAllowedAddresses(chat.audit, keyId, addresses)).outcome : undefined;
  if (outcome === 'too_many_key_changes') chat.toast = chat.texts.keys.tooManyChanges;
  else chat.toast = isAllowed ? chat.texts.keys.allowed : chat.texts.outdated;
  await showKey(chat, keyId);
}

/** Changes the allowed addresses of an existing key. */
export const keyAddresses: Menu = {
  actions: { ka: { role: 'developer', run: (chat, keyId = '') => askForAllowed(chat, keyId) } },
  steps: {
    key_allow: {
      role: 'developer',
      answer: async (chat, [keyId = ''], typed) => {
        const addresses = readAddresses(typed);
        if (!addresses) return askForAllowed(chat, keyId, chat.texts.keys.badAddresses);
        await allow(chat, keyId, addresses);
      },
      confirm: (chat, [keyId = '']) => allow(chat, keyId, []),
    },
  },
};
