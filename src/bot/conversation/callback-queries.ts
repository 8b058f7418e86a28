import { parseId } from '../../base/ids.ts';
import { type ChatContext, toast } from './chat-context.ts';
import { asMember } from './membership.ts';
import { findPartnerAction, findPartnerStep, findPersonalAction } from './menus/registry.ts';
import { consumeDialogue } from './users.ts';

/** Handles the press of an inline button; `data` may be forged. */
export async function handleCallback(chat: ChatContext, data: string): Promise<void> {
  const [name = '', ...args] = data.split(':');
  if (name === 'ok') return confirm(chat, args[0] ?? '');
  // Another button cancels the open question: what is typed next is not its answer.
  if (chat.user.dialogue && name !== 'hide')
    await consumeDialogue(chat.deps.pool, chat.user.userId, chat.user.dialogue.nonce);
  const personal = findPersonalAction(name);
  if (personal) return personal(chat, ...args);
  const action = findPartnerAction(name);
  const partnerId = parseId('prt', `prt_${args[0]}`);
  if (!action || !partnerId) return toast(chat, chat.texts.outdated);
  await asMember(chat, partnerId, action.role, partnerChat => action.run(partnerChat, ...args.slice(1)));
}

async function confirm(chat: ChatContext, nonce: string): Promise<void> {
  const { dialogue } = chat.user;
  const step = dialogue && findPartnerStep(dialogue.step);
  const isConsumed =
    dialogue?.nonce === nonce && (await consumeDialogue(chat.deps.pool, chat.user.userId, nonce));
  if (!isConsumed || !step?.confirm || !dialogue?.partnerId) return toast(chat, chat.texts.outdated);
  await asMember(chat, dialogue.partnerId, step.role, partnerChat =>
    step.confirm!(partnerChat, ...dialogue.args),
  );
}
