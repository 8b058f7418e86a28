import type { Message } from 'grammy/types';
import type { Upload } from './body.ts';
import { type ChatMessage, type ChatState, toWire } from './chats.ts';
import type { Call, World } from './context.ts';
import { badRequest, Refusal, violation } from './errors.ts';
import { type FormattedText, parseHtml, trimmed } from './formatting.ts';
import { checkKeyboard, type Keyboard } from './keyboard.ts';
import type { Markup, ParametersOf } from './parameters.ts';

const maxTextLength = 4096;
const maxCaptionLength = 1024;

export function sendMessage(call: Call, parameters: ParametersOf<'sendMessage'>): Message {
  const chatState = writableChat(call.world, parameters.chat_id);
  return post(call, chatState, parameters, messageText(parameters.text, parameters.parse_mode));
}

export function sendPhoto(call: Call, parameters: ParametersOf<'sendPhoto'>): Message {
  const chatState = writableChat(call.world, parameters.chat_id);
  const photo = call.world.files.addPhoto(fileOf(call, parameters.photo).bytes);
  return post(call, chatState, parameters, captionOf(parameters), { photo });
}

export function sendDocument(call: Call, parameters: ParametersOf<'sendDocument'>): Message {
  const chatState = writableChat(call.world, parameters.chat_id);
  const { bytes, fileName } = fileOf(call, parameters.document);
  const document = call.world.files.addDocument(bytes, fileName);
  return post(call, chatState, parameters, captionOf(parameters), { document });
}

/** The chat, if the bot may do something there. */
export function writableChat({ chats }: World, chatId: number): ChatState {
  const chatState = chats.chatStates.get(chatId);
  if (!chatState?.isOpen) throw badRequest('chat not found');
  if (chatState.forbidden !== undefined) throw new Refusal(403, `Forbidden: ${chatState.forbidden}`);
  return chatState;
}

export function messageText(source: string, parseMode: 'HTML' | undefined): FormattedText {
  const formatted = format(source, parseMode);
  if (formatted.text === '') throw violation('message text is empty');
  if (formatted.text.length > maxTextLength) throw violation('message is too long');
  return formatted;
}

export function inlineKeyboardOf(markup: Markup | undefined): Keyboard {
  if (!markup || !('inline_keyboard' in markup)) return [];
  // The shape has been checked already, and what a button does is checked here.
  const rows = markup.inline_keyboard as Keyboard;
  checkKeyboard(rows);
  return rows.filter(row => row.length > 0);
}

interface Common {
  reply_markup?: Markup;
  reply_parameters?: { message_id: number; allow_sending_without_reply?: boolean };
}

function post(
  { world }: Call,
  chatState: ChatState,
  common: Common,
  formatted: FormattedText,
  media: Pick<ChatMessage, 'photo' | 'document'> = {},
): Message {
  const replyTo = repliedTo(chatState, common.reply_parameters);
  const keyboard = inlineKeyboardOf(common.reply_markup);
  const draft = { from: authorOf(world), ...formatted, ...media, keyboard, ...(replyTo && { replyTo }) };
  return toWire(world.chats.post(chatState, draft));
}

/** In messages the bot is a plain user, without the fields of getMe. */
export const authorOf = ({ bot: { id, is_bot, first_name, username } }: World) => ({
  id,
  is_bot,
  first_name,
  username,
});

function repliedTo(chatState: ChatState, reply: Common['reply_parameters']): ChatMessage | undefined {
  const found = chatState.messages.find(({ id, isDeleted }) => id === reply?.message_id && !isDeleted);
  if (reply && !found && !reply.allow_sending_without_reply)
    throw badRequest('message to be replied not found');
  return found;
}

function captionOf({ caption = '', parse_mode }: { caption?: string; parse_mode?: 'HTML' }): FormattedText {
  const formatted = format(caption, parse_mode);
  if (formatted.text.length > maxCaptionLength) throw violation('message caption is too long');
  return formatted;
}

// Lengths are counted in UTF-16 units, as offsets of entities are: never less than what Telegram counts.
const format = (source: string, parseMode: 'HTML' | undefined) =>
  parseMode === 'HTML' ? parseHtml(source) : trimmed({ text: source, entities: [] });

/** What is sent is either uploaded with the call, or something that Telegram has already. */
function fileOf({ world, uploads }: Call, reference: string): Upload {
  const name = /^attach:\/\/(.+)$/.exec(reference)?.[1];
  if (name === undefined) {
    const known = world.files.byId(reference);
    if (!known) throw violation('wrong file identifier/HTTP URL specified');
    return { bytes: known.bytes, fileName: known.name };
  }
  const upload = uploads.get(name);
  if (!upload) throw violation(`there is no file "${name}" in the request`);
  if (upload.bytes.length === 0) throw violation('file must be non-empty');
  return upload;
}
