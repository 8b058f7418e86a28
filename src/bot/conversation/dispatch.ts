import type { Message } from 'grammy/types';
import { type Id, parseId } from '../../base/ids.ts';
import { hasRight, type MemberRight } from '../../partners/index.ts';
import type { QrReader } from '../images/qr-reader.ts';
import { type ChatContext, findMembership, type PartnerContext, send, toast } from './chat-context.ts';
import { answerSignUp, findCurrent, goHome, signUpStep, start } from './menus/home.ts';
import { showQrLink, showQrPhoto } from './menus/qr.ts';
import { partnerActions, partnerSteps, personalActions } from './menus/registry.ts';
import { consumeDialogue, type Dialogue } from './users.ts';

/** Handles the press of an inline button; `data` may be forged. */
export async function handleCallback(chat: ChatContext, data: string): Promise<void> {
  const [name = '', ...args] = data.split(':');
  if (name === 'ok') return confirm(chat, args[0] ?? '');
  // Another button cancels the open question: what is typed next is not its answer.
  if (chat.user.dialogue && name !== 'hide')
    await consumeDialogue(chat.deps.pool, chat.user.userId, chat.user.dialogue.nonce);
  const personal = personalActions.get(name);
  if (personal) return personal(chat, ...args);
  const action = partnerActions.get(name);
  const partnerId = parseId('prt', `prt_${args[0]}`);
  if (!action || !partnerId) return toast(chat, chat.texts.outdated);
  await asMember(chat, partnerId, action.right, partnerChat => action.run(partnerChat, ...args.slice(1)));
}

async function confirm(chat: ChatContext, nonce: string): Promise<void> {
  const { dialogue } = chat.user;
  const step = dialogue && partnerSteps.get(dialogue.step);
  const isConsumed =
    dialogue?.nonce === nonce && (await consumeDialogue(chat.deps.pool, chat.user.userId, nonce));
  if (!isConsumed || !step?.confirm || !dialogue?.partnerId) return toast(chat, chat.texts.outdated);
  await asMember(chat, dialogue.partnerId, step.right, partnerChat =>
    step.confirm!(partnerChat, ...dialogue.args),
  );
}

/** Handles a message in the private chat: a picture, a command, the answer to a question, or a link. */
export async function handleMessage(chat: ChatContext, message: Message, qrReader: QrReader): Promise<void> {
  const { text, photo, document, forward_origin } = message;
  const { dialogue } = chat.user;
  const reply = async (html: string) => void (await send(chat, html));
  const picture = photo?.at(-1)?.file_id ?? document?.file_id;
  if (picture !== undefined)
    return withCurrentPartner(chat, partnerChat => showQrPhoto(partnerChat, picture, qrReader));
  // A sticker sent by mistake does not cancel a question.
  if (text === undefined) return dialogue ? reply(chat.texts.onlyText) : goHome(chat);
  if (/^\/start\b/.test(text)) return start(chat, text.slice('/start'.length).trim());
  if (text.startsWith('/')) return goHome(chat);
  if (dialogue && !forward_origin && (await handleAnswer(chat, dialogue, text))) return;
  if (/^\s*(https?|bank\d+):\/\//i.test(text))
    return withCurrentPartner(chat, partnerChat => showQrLink(partnerChat, text));
  // A forwarded message was written by somebody else: it is no answer, and the question stays open.
  return dialogue && forward_origin ? reply(chat.texts.forwarded) : goHome(chat);
}

/** False if the open question takes no typed answer. */
async function handleAnswer(chat: ChatContext, dialogue: Dialogue, typed: string): Promise<boolean> {
  const step = partnerSteps.get(dialogue.step);
  if (dialogue.step !== signUpStep && !step?.answer) return false;
  if (!(await consumeDialogue(chat.deps.pool, chat.user.userId, dialogue.nonce))) return false;
  if (dialogue.step === signUpStep) await answerSignUp(chat, typed);
  else
    await asMember(chat, dialogue.partnerId!, step!.right, partnerChat =>
      step!.answer!(partnerChat, typed, ...dialogue.args),
    );
  return true;
}

/** Runs `work` if the user has the right now, whatever it was when the button was shown. */
async function asMember(
  chat: ChatContext,
  partnerId: Id<'prt'>,
  right: MemberRight,
  work: (chat: PartnerContext) => Promise<void>,
): Promise<void> {
  const membership = await findMembership(chat, partnerId);
  if (!membership) {
    chat.toast = chat.texts.noMember;
    return goHome(chat);
  }
  if (!hasRight(membership.role, right)) {
    chat.toast = chat.texts.notAllowed(right);
    if (chat.pressedMessageId === undefined) await send(chat, chat.toast);
    return;
  }
  const partnerChat: PartnerContext = { ...chat, ...membership };
  await work(partnerChat);
  chat.toast = partnerChat.toast;
}

/** What is read from a QR code. */
async function withCurrentPartner(chat: ChatContext, work: (chat: PartnerContext) => Promise<void>) {
  const current = await findCurrent(chat);
  return current ? asMember(chat, current.partner.partnerId, 'follow', work) : goHome(chat);
}
