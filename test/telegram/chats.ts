import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Chat, Message, MessageOrigin, User } from 'grammy/types';
import { documentOf, type Photo, type StoredFile } from './files.ts';
import type { FormattedText } from './formatting.ts';
import type { Keyboard } from './keyboard.ts';

/** The content of a message between two edits. Dates are in Unix seconds. */
export interface Version extends FormattedText {
  keyboard: Keyboard;
  date: number;
}

/** A message as it is now; `edits` are its earlier versions, the oldest first. */
export interface ChatMessage extends Version {
  id: number;
  chatState: ChatState;
  from: User;
  edits: Version[];
  isDeleted: boolean;
  photo?: Photo;
  document?: StoredFile;
  replyTo?: ChatMessage;
  origin?: MessageOrigin;
}

/** A message that the bot sent or edited. */
export interface Reading {
  message: ChatMessage;
  version: Version;
}

export interface ChatState {
  chat: Chat;
  messages: ChatMessage[];
  readings: Reading[];
  /** Emits `change` when a message is sent, edited or deleted. */
  changes: EventEmitter;
  /** Opaque to bots; the same for all queries from one chat. */
  instance: string;
  /** A bot may write to a person only after that person wrote to it. */
  isOpen: boolean;
  /** Why the bot may not write here any more, in Telegram's words. */
  forbidden: string | undefined;
  nextId(): number;
}

export type Draft = Pick<ChatMessage, 'from' | 'text' | 'entities'> &
  Partial<Pick<ChatMessage, 'keyboard' | 'photo' | 'document' | 'replyTo' | 'origin'>>;

export interface Chats {
  chatStates: Map<number, ChatState>;
  open(chat: Chat, isOpen: boolean): ChatState;
  post(chatState: ChatState, draft: Draft): ChatMessage;
  edit(message: ChatMessage, change: Partial<Omit<Version, 'date'>>): void;
  remove(message: ChatMessage): void;
}

export function createChats(now: () => number): Chats {
  const chatStates = new Map<number, ChatState>();
  // A bot counts messages across its private chats and small groups; a supergroup counts its own.
  const nextShared = counterFrom(1041);
  const seconds = () => Math.floor(now() / 1000);
  const noteReading = (message: ChatMessage) => {
    const { text, entities, keyboard, date } = message;
    if (message.from.is_bot)
      message.chatState.readings.push({ message, version: { text, entities, keyboard, date } });
    message.chatState.changes.emit('change');
  };
  return {
    chatStates,
    open: (chat, isOpen) => {
      const chatState: ChatState = {
        chat,
        messages: [],
        readings: [],
        changes: new EventEmitter().setMaxListeners(0),
        instance: String(randomBytes(8).readBigInt64BE()),
        isOpen,
        forbidden: undefined,
        nextId: chat.type === 'supergroup' ? counterFrom(212) : nextShared,
      };
      chatStates.set(chat.id, chatState);
      return chatState;
    },
    post: (chatState, draft) => {
      const rest = { id: chatState.nextId(), chatState, date: seconds(), edits: [], isDeleted: false };
      const message: ChatMessage = { keyboard: [], ...draft, ...rest };
      chatState.messages.push(message);
      noteReading(message);
      return message;
    },
    edit: (message, change) => {
      const { text, entities, keyboard, date } = message;
      message.edits.push({ text, entities, keyboard, date });
      Object.assign(message, change, { date: seconds() });
      noteReading(message);
    },
    remove: message => {
      message.isDeleted = true;
      message.chatState.changes.emit('change');
    },
  };
}

function counterFrom(first: number): () => number {
  let next = first;
  return () => next++;
}

/** A message as the Bot API shows it, with the one that it replies to, but not what that one replied to. */
export function toWire(message: ChatMessage): Message {
  if (!message.replyTo) return withoutReply(message);
  // The types want the further reply to be there and undefined, which JSON cannot say.
  const replied = withoutReply(message.replyTo) as NonNullable<Message['reply_to_message']>;
  return { ...withoutReply(message), reply_to_message: replied };
}

function withoutReply(message: ChatMessage): Message {
  const { photo, document, edits } = message;
  return {
    message_id: message.id,
    from: message.from,
    chat: message.chatState.chat,
    date: edits[0]?.date ?? message.date,
    ...(edits.length > 0 && { edit_date: message.date }),
    ...(message.origin && { forward_origin: message.origin }),
    ...(photo && { photo: photo.sizes }),
    ...(document && { document: documentOf(document) }),
    ...(photo || document ? captionOf(message) : textOf(message)),
    ...(message.keyboard.length > 0 && { reply_markup: { inline_keyboard: message.keyboard } }),
  };
}

const textOf = ({ text, entities }: ChatMessage) => ({ text, ...(entities.length > 0 && { entities }) });

const captionOf = ({ text, entities }: ChatMessage) => ({
  ...(text !== '' && { caption: text }),
  ...(entities.length > 0 && { caption_entities: entities }),
});
