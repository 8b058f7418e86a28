import type { UserFromGetMe } from 'grammy/types';
import { type ChatMessage, type ChatState, type Chats, type Draft, toWire, type Version } from './chats.ts';
import { badRequest, Refusal, violation } from './errors.ts';
import { format } from './formatting.ts';
import { keyboardOf, type MethodName, type ParametersOf } from './parameters.ts';
import type { Updates } from './updates.ts';

/** The state of the fake Telegram, shared by the Bot API and the fake users. */
export interface World {
  bot: UserFromGetMe;
  chats: Chats;
  updates: Updates;
  /** What waits for the answer to a callback query: until then the button keeps spinning. */
  presses: Map<string, (toast: string | undefined) => void>;
}

/** What a method gets besides its parameters. */
export interface Call {
  uploads: Map<string, Buffer>;
  /** Aborted when the client disconnects. */
  gone: AbortSignal;
}

type Methods = { [Name in MethodName]: (parameters: ParametersOf<Name>, call: Call) => unknown };

export function createMethods({ bot, chats, updates, presses }: World): Methods {
  const writableChat = (chatId: number): ChatState => {
    const chatState = chats.chatStates.get(chatId);
    if (!chatState?.isOpen) throw badRequest('chat not found');
    if (chatState.forbidden !== undefined) throw new Refusal(403, `Forbidden: ${chatState.forbidden}`);
    return chatState;
  };
  const find = (chatId: number, messageId: number, purpose: string): ChatMessage => {
    const { messages } = writableChat(chatId);
    const message = messages.find(({ id, isDeleted }) => id === messageId && !isDeleted);
    if (!message) throw badRequest(`message to ${purpose} not found`);
    return message;
  };
  // In messages the bot is a plain user, without the fields of getMe.
  const { id, is_bot, first_name, username } = bot;
  const post = (chatId: number, draft: Omit<Draft, 'from'>) =>
    toWire(chats.post(writableChat(chatId), { from: { id, is_bot, first_name, username }, ...draft }));

  return {
    getMe: () => bot,
    getUpdates: (parameters, { gone }) => updates.poll(parameters, gone),
    // Telegram requires HTTPS and certain ports; tests use plain HTTP on a free port.
    setWebhook: parameters => {
      updates.setWebhook(parameters);
      return true;
    },
    deleteWebhook: () => {
      updates.deleteWebhook();
      return true;
    },
    sendMessage: ({ chat_id, text, parse_mode, reply_markup }) =>
      post(chat_id, { ...format('text', text, parse_mode), keyboard: keyboardOf(reply_markup) }),
    sendPhoto: ({ chat_id, photo, caption = '', parse_mode, reply_markup }, { uploads }) => {
      const bytes = uploads.get(photo.replace('attach://', ''));
      if (!bytes) throw violation('wrong file identifier/HTTP URL specified');
      const formatted = format('caption', caption, parse_mode);
      const keyboard = keyboardOf(reply_markup);
      return post(chat_id, { ...formatted, keyboard, photo: chats.addPhoto(bytes) });
    },
    sendDocument: ({ chat_id, document, caption = '', parse_mode, reply_markup }, { uploads }) => {
      const bytes = uploads.get(document.replace('attach://', ''));
      if (!bytes) throw violation('wrong file identifier/HTTP URL specified');
      const formatted = format('caption', caption, parse_mode);
      const keyboard = keyboardOf(reply_markup);
      return post(chat_id, { ...formatted, keyboard, document: chats.addFile(bytes, 'document') });
    },
    editMessageText: ({ chat_id, message_id, text, parse_mode, reply_markup }) => {
      // An edit without a keyboard takes the old one away.
      const version = { ...format('text', text, parse_mode), keyboard: keyboardOf(reply_markup) };
      const message = find(chat_id, message_id, 'edit');
      if (message.from.id !== id) throw badRequest("message can't be edited");
      if (message.photo) throw badRequest('there is no text in the message to edit');
      const contentOf = (one: Version) => JSON.stringify([one.text, one.entities, one.keyboard]);
      if (contentOf(message) === contentOf(version)) throw badRequest('message is not modified');
      chats.edit(message, version);
      return toWire(message);
    },
    deleteMessage: ({ chat_id, message_id }) => {
      const message = find(chat_id, message_id, 'delete');
      // In private chats also what the person wrote; in groups only its own, as it is no administrator.
      if (!message.from.is_bot && message.chatState.chat.type !== 'private')
        throw badRequest("message can't be deleted");
      chats.remove(message);
      return true;
    },
    answerCallbackQuery: ({ callback_query_id, text }) => {
      const answer = presses.get(callback_query_id);
      if (!answer) throw badRequest('query is too old and response timeout expired or query ID is invalid');
      presses.delete(callback_query_id);
      answer(text);
      return true;
    },
    getFile: ({ file_id }) => {
      const file = chats.files.get(file_id);
      if (!file) throw badRequest('invalid file_id');
      if (file.bytes.length > 20 * 1024 * 1024) throw badRequest('file is too big');
      return { file_id, file_unique_id: 'f', file_size: file.bytes.length, file_path: file_id };
    },
  };
}
