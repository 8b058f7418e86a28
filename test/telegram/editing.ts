import type { Message } from 'grammy/types';
import { type ChatMessage, toWire, type Version } from './chats.ts';
import type { Call, World } from './context.ts';
import { badRequest } from './errors.ts';
import type { ParametersOf } from './parameters.ts';
import { inlineKeyboardOf, messageText, writableChat } from './sending.ts';

export function editMessageText({ world }: Call, parameters: ParametersOf<'editMessageText'>): Message {
  const formatted = messageText(parameters.text, parameters.parse_mode);
  // An edit without a keyboard takes the old one away.
  const keyboard = inlineKeyboardOf(parameters.reply_markup);
  const message = ownMessage(world, parameters);
  if (message.photo || message.document) throw badRequest('there is no text in the message to edit');
  return edit(world, message, { ...formatted, keyboard });
}

export function editMessageReplyMarkup(
  { world }: Call,
  parameters: ParametersOf<'editMessageReplyMarkup'>,
): Message {
  const keyboard = inlineKeyboardOf(parameters.reply_markup);
  return edit(world, ownMessage(world, parameters), { keyboard });
}

export function deleteMessage({ world }: Call, parameters: ParametersOf<'deleteMessage'>): true {
  const message = find(world, parameters);
  if (!message) throw badRequest('message to delete not found');
  if (!mayDelete(message)) throw badRequest("message can't be deleted");
  world.chats.remove(message);
  return true;
}

/** Unlike deleteMessage, it ignores missing messages. */
export function deleteMessages(
  { world }: Call,
  { chat_id, message_ids }: ParametersOf<'deleteMessages'>,
): true {
  for (const message_id of message_ids) {
    const message = find(world, { chat_id, message_id });
    if (message && mayDelete(message)) world.chats.remove(message);
  }
  return true;
}

interface Target {
  chat_id: number;
  message_id: number;
}

const find = (world: World, { chat_id, message_id }: Target): ChatMessage | undefined =>
  writableChat(world, chat_id).messages.find(({ id, isDeleted }) => id === message_id && !isDeleted);

function ownMessage(world: World, target: Target): ChatMessage {
  const message = find(world, target);
  if (!message) throw badRequest('message to edit not found');
  if (message.from.id !== world.bot.id) throw badRequest("message can't be edited");
  return message;
}

function edit(world: World, message: ChatMessage, change: Partial<Omit<Version, 'date'>>): Message {
  const contentOf = ({ text, entities, keyboard }: Omit<Version, 'date'>) =>
    JSON.stringify([text, entities, keyboard]);
  if (contentOf(message) === contentOf({ ...message, ...change })) {
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a ' +
        'current content and reply markup of the message',
    );
  }
  world.chats.edit(message, change);
  return toWire(message);
}

/** In private chats also what the person wrote; in groups only its own, as it is no administrator. */
const mayDelete = ({ from, chatState }: ChatMessage) => from.is_bot || chatState.chat.type === 'private';
