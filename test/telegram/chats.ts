import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Chat, Message, MessageOrigin, User } from 'grammy/types';
import { violation } from './errors.ts';
import type { FormattedText } from './formatting.ts';
import type { Keyboard } from './parameters.ts';

/** The content of a message between two edits. */
export interface Version extends FormattedText {
  keyboard: Keyboard;
}

export interface StoredFile {
  id: string;
  name: string;
  bytes: Buffer;
}

/** A message as it is now; `edits` are its earlier versions, the oldest first. */
export interface ChatMessage extends Version {
  id: number;
  chatState: ChatState;
  from: User;
  edits: Version[];
  isDeleted: boolean;
  photo?: StoredFile;
  document?: StoredFile;
  origin?: MessageOrigin;
}

export interface ChatState {
  chat: Chat;
  messages: ChatMessage[];
  /** Every message that the bot sent, as sent and as edited. */
  readings: { message: ChatMessage; version: Version }[];
  /** Emits `change` when a message is sent, edited or deleted. */
  changes: EventEmitter;
  /** A bot may write to a person only after that person wrote to it. */
  isOpen: boolean;
  /** Why the bot may not write here any more, in Telegram's words. */
  forbidden: string | undefined;
}

export type Draft = Pick<ChatMessage, 'from' | 'text' | 'entities'> &
  Partial<Pick<ChatMessage, 'keyboard' | 'photo' | 'document' | 'origin'>>;

export type Chats = ReturnType<typeof createChats>;

export function createChats() {
  const chatStates = new Map<number, ChatState>();
  const files = new Map<string, StoredFile>();
  let nextId = 1041;
  const noteReading = (message: ChatMessage) => {
    const { text, entities, keyboard, chatState } = message;
    if (message.from.is_bot) chatState.readings.push({ message, version: { text, entities, keyboard } });
    chatState.changes.emit('change');
  };
  const addFile = (bytes: Buffer, name: string, id: string = randomUUID()): StoredFile => {
    const file = { id, name, bytes };
    files.set(id, file);
    return file;
  };
  return {
    chatStates,
    files,
    addFile,
    addPhoto: (bytes: Buffer) => {
      checkPicture(bytes);
      const full = addFile(bytes, 'photo.png');
      addFile(dot, 'photo.png', smallIdOf(full));
      return full;
    },
    open: (chat: Chat, isOpen: boolean) => {
      const changes = new EventEmitter().setMaxListeners(0);
      const chatState: ChatState = {
        chat,
        messages: [],
        readings: [],
        changes,
        isOpen,
        forbidden: undefined,
      };
      chatStates.set(chat.id, chatState);
      return chatState;
    },
    post: (chatState: ChatState, draft: Draft) => {
      const rest = { id: nextId++, chatState, edits: [], isDeleted: false };
      const message: ChatMessage = { keyboard: [], ...draft, ...rest };
      chatState.messages.push(message);
      noteReading(message);
      return message;
    },
    edit: (message: ChatMessage, version: Version) => {
      const { text, entities, keyboard } = message;
      message.edits.push({ text, entities, keyboard });
      Object.assign(message, version);
      noteReading(message);
    },
    remove: (message: ChatMessage) => {
      message.isDeleted = true;
      message.chatState.changes.emit('change');
    },
  };
}

/** One grey dot as the thumbnail, so that a bot that uses it instead of the photo fails its test. */
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
);
const smallIdOf = ({ id }: StoredFile) => `${id}-small`;

/** Telegram's limits for photos; here all are PNG. */
function checkPicture(bytes: Buffer): void {
  if (bytes.length < 24 || bytes.readUInt32BE(0) !== 0x89504e47) throw violation('IMAGE_PROCESS_FAILED');
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const isOutOfShape = Math.max(width, height) > 20 * Math.min(width, height);
  if (width + height > 10_000 || isOutOfShape) throw violation('PHOTO_INVALID_DIMENSIONS');
  if (bytes.length > 10 * 1024 * 1024) throw violation('file is too big for a photo');
}

/** A message as the Bot API shows it. */
export function toWire({ id, from, chatState, text, entities, keyboard, ...more }: ChatMessage): Message {
  const { photo, document, origin } = more;
  const sizes = photo && [
    { file_id: smallIdOf(photo), file_unique_id: 'small', width: 90, height: 90 },
    { file_id: photo.id, file_unique_id: 'full', file_size: photo.bytes.length, width: 900, height: 900 },
  ];
  const [textName, entitiesName] = photo || document ? ['caption', 'caption_entities'] : ['text', 'entities'];
  return {
    message_id: id,
    from,
    chat: chatState.chat,
    date: Math.floor(Date.now() / 1000),
    ...(origin && { forward_origin: origin }),
    ...(sizes && { photo: sizes }),
    ...(document && { document: { file_id: document.id, file_unique_id: 'd', file_name: document.name } }),
    ...(text !== '' && { [textName]: text }),
    ...(entities.length > 0 && { [entitiesName]: entities }),
    ...(keyboard.length > 0 && { reply_markup: { inline_keyboard: keyboard } }),
  } as Message;
}
