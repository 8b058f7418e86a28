import { maxRolledKeys, rollKey, undoRoll } from '../../../partners/index.ts';
import { ask, backTo, button, type PartnerContext, show } from '../chat-context.ts';
import { sendSecretMessage } from '../secret-message.ts';
import { findKey, mayManage, rightFor, showKeys } from './keys.ts';
import type { Menu } from './menu.ts';

/** How long the old key stays valid. */
const overlapHours = [1, 24, 168];
const hourMs = 3_600_000;

/** A key that this member may roll; otherwise the user sees why not. */
async function findToRoll(chat: PartnerContext, keyId: string) {
  const key = await findKey(chat, keyId);
  if (!key) return void (await showKeys(chat));
  if (key.rolledTo) chat.toast = chat.texts.keys.alreadyRolled;
  else if (mayManage(chat, key.mode)) return key;
  return undefined;
}

async function chooseOverlap(chat: PartnerContext, keyId = ''): Promise<void> {
  const texts = chat.texts.keys;
  const key = await findToRoll(chat, keyId);
  if (!key) return;
  await show(chat, texts.askOverlap(key), [
    ...overlapHours.map(hours => [button(chat, texts.overlap(hours), 'kw', keyId, `${hours}`)]),
    backTo(chat, 'kv', keyId),
  ]);
}

async function askRoll(chat: PartnerContext, keyId = '', hours = ''): Promise<void> {
  const texts = chat.texts.keys;
  const key = overlapHours.includes(Number(hours)) ? await findToRoll(chat, keyId) : undefined;
  if (!key) return;
  const text = texts.askRoll(key, Number(hours));
  await ask(chat, { step: 'key_roll', args: [keyId, hours], text, confirm: texts.roll, back: ['kv', keyId] });
}

async function roll(chat: PartnerContext, keyId = '', hours = ''): Promise<void> {
  const key = await findToRoll(chat, keyId);
  const message = key && (await sendSecretMessage(chat, rightFor(key.mode)));
  if (!message) return;
  const rolled = await rollKey(chat.audit, chat.deps.keyring, keyId, Number(hours) * hourMs);
  if (rolled.outcome !== 'rolled') {
    await message.discard();
    const { partner, keys, outdated } = chat.texts;
    if (rolled.outcome === 'partner_suspended') chat.toast = partner.suspendedKeys;
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
  integrate: { actions: { ko: chooseOverlap, kw: askRoll }, steps: { key_roll: { confirm: roll } } },
};
