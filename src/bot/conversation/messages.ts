import type { Message } from 'grammy/types';
import type { QrReader } from '../images/qr-reader.ts';
import { type ChatContext, send } from './chat-context.ts';
import { asMember, withCurrentPartner } from './membership.ts';
import { answerSignUp, goHome, signUpStep, start } from './menus/home.ts';
import { showQrLink, showQrPhoto } from './menus/qr.ts';
import { findPartnerStep } from './menus/registry.ts';
import { consumeDialogue, type Dialogue } from './users.ts';

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
  const step = findPartnerStep(dialogue.step);
  if (dialogue.step !== signUpStep && !step?.answer) return false;
  if (!(await consumeDialogue(chat.deps.pool, chat.user.userId, dialogue.nonce))) return false;
  if (dialogue.step === signUpStep) await answerSignUp(chat, typed);
  else
    await asMember(chat, dialogue.partnerId!, step!.role, partnerChat =>
      step!.answer!(partnerChat, typed, ...dialogue.args),
    );
  return true;
}
