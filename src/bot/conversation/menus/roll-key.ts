import { maxRolledKeys, roleIncludes, rollKey, undoRoll } from '../../../partners/index.ts';
import { ask, callbackData, canStillAct, type PartnerContext, show } from '../chat-context.ts';
import { sendSecretMessage } from '../secret-message.ts';
import { findKey, roleFor, showKeys } from './keys.ts';
import type { Menu } from './menu.ts';

/** How long the old key stays valid. */
const overlapHours = [1, 24, 168];
const hourMs = 3_600_000;

/** A key that this member may roll; otherwise the user sees why not. */
async function findToRoll(chat: PartnerContext, keyId: string) {
  const key = await findKey(chat, keyId);
  if (!key) {
    await showKeys(chat);
    return undefined;
  }
  if (key.rolledTo) chat.toast = chat.texts.keys.alreadyRolled;
  else if (!roleIncludes(chat.role, roleFor(key.mode))) chat.toast = chat.texts.notAllowed(roleFor(key.mode));
  else return key;
  return undefined;
}

async function chooseOverlap(chat: PartnerContext, keyId: string): Promise<void> {
  const { texts, partner } = chat;
  const key = await findToRoll(chat, keyId);
  if (!key) return;
  await show(chat, {
    text: texts.keys.askOverlap(key),
    buttons: [
      ...overlapHours.map(hours => [
        { text: texts.keys.overlap(hours), data: callbackData('kw', partner, keyId, `${hours}`) },
      ]),
      [{ text: texts.back, data: callbackData('kv', partner, keyId) }],
    ],
  });
}

async function askRoll(chat: PartnerContext, keyId: string, hours: string): Promise<void> {
  const { texts, partner } = chat;
  const key = overlapHours.includes(Number(hours)) ? await findToRoll(chat, keyId) : undefined;
  if (!key) return;
  await ask(chat, {
    step: 'key_roll',
    partnerId: partner.partnerId,
    args: [keyId, hours],
    text: texts.keys.askRoll(key, Number(hours)),
    confirm: texts.keys.roll,
    back: callbackData('kv', partner, keyId),
  });
}

async function roll(chat: PartnerContext, keyId: string, hours: string): Promise<void> {
  const key = await findToRoll(chat, keyId);
  if (!key) return;
  const message = await sendSecretMessage(chat);
  if (!(await canStillAct(chat, roleFor(key.mode)))) return message.discard();
  const rolled = await rollKey(chat.audit, chat.deps.keyring, keyId, Number(hours) * hourMs);
  if (rolled.outcome !== 'rolled') {
    await message.discard();
    const { partner, keys, outdated } = chat.texts;
    if (rolled.outcome === 'partner_suspended') chat.toast = partner.suspended;
    else if (rolled.outcome === 'too_many_rolled_keys') chat.toast = keys.tooManyRolled(maxRolledKeys);
    else chat.toast = rolled.outcome === 'too_many_key_changes' ? keys.tooManyChanges : outdated;
    return showKeys(chat);
  }
  await message.reveal(chat.texts.keys.created(rolled.key)).catch(async error => {
    // It is not certain that anybody saw the new key: the old one must not end.
    await undoRoll(chat.audit, rolled);
    throw error;
  });
  // Below the key, so that both are visible.
  await showKeys({ ...chat, pressedMessageId: undefined });
}

/** Replaces a key by a new one; both are valid for a while. */
export const keyRolls: Menu = {
  actions: {
    ko: { role: 'developer', run: (chat, keyId = '') => chooseOverlap(chat, keyId) },
    kw: { role: 'developer', run: (chat, keyId = '', hours = '') => askRoll(chat, keyId, hours) },
  },
  steps: {
    key_roll: {
      role: 'developer',
      confirm: (chat, [keyId = '', hours = '']) => roll(chat, keyId, hours),
    },
  },
};
