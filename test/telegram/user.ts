import type { CallbackQuery, InlineKeyboardButton, MessageEntity, Update, User } from 'grammy/types';
import type { CallbackAnswer } from './callbacks.ts';
import { type ChatMessage, type Draft, type Reading, type Room, toWire } from './chats.ts';
import type { World } from './context.ts';
import { captionsOf, transcript } from './transcript.ts';

/** What somebody sees of the bot: one of its messages, as sent or as edited. */
export interface Screen {
  text: string;
  buttons: string[][];
  message: ChatMessage;
}

export interface Press {
  /** What the bot shows for it, within a few seconds. */
  answer(): Promise<CallbackAnswer>;
}

/** Somebody in a chat with the bot: alone with it, or in a group. */
export interface Person {
  readonly account: User;
  readonly room: Room;
  /** All messages of the chat, the oldest first. */
  readonly messages: readonly ChatMessage[];
  send(text: string, options?: { replyTo?: ChatMessage }): Promise<ChatMessage>;
  sendPhoto(picture: Buffer, caption?: string): Promise<ChatMessage>;
  sendDocument(bytes: Buffer, name: string, mimeType?: string): Promise<ChatMessage>;
  /** Passes on what somebody else wrote. */
  sendForwarded(text: string, from: User): Promise<ChatMessage>;
  /** Presses the button on the newest message that has it. */
  press(caption: string): Promise<Press>;
  /** Presses a button that the message has or once had, even if it is deleted: a slow or a replayed press. */
  pressOn(message: ChatMessage, caption: string): Promise<Press>;
  /** A press with any data on any message, also of a chat that this person is not in. */
  forgeCallback(message: ChatMessage, data: string): Promise<Press>;
  /**
   * Waits for something of the bot that matches and was not read yet. People read from the top: what comes before
   * it counts as read, too. A message that is edited is there to be read again.
   */
  reads(expected: RegExp | ((screen: Screen) => boolean), withinMs?: number): Promise<Screen>;
  /** The newest message of the bot that is still there. */
  screen(): Screen;
}

const patienceMs = 5_000;

export function createPerson(
  world: World,
  room: Room,
  account: User,
  hears: (draft: Draft) => boolean,
): Person {
  let read = 0;

  const say = async (draft: Omit<Draft, 'from'>): Promise<ChatMessage> => {
    if (room.forbidden !== undefined)
      throw new Error(`${account.first_name} cannot write: ${room.forbidden}`);
    room.isOpen = true;
    const full = { from: account, ...draft };
    const message = world.chats.post(room, full);
    // The types tell channels apart, where nobody is the author; there are none here.
    const wire = toWire(message) as NonNullable<Update['message']>;
    if (hears(full)) world.updates.push(room.chat.id, { message: wire });
    return message;
  };

  const query = async (message: ChatMessage, data: string): Promise<Press> => {
    const callback = world.callbacks.create(account.id);
    const callbackQuery: CallbackQuery = {
      id: callback.id,
      from: account,
      message: shownInQuery(message),
      chat_instance: message.room.instance,
      data,
    };
    world.updates.push(account.id, { callback_query: callbackQuery });
    const late = () => new Error(`The press of "${data}" was not answered in time\n${transcript(room)}`);
    return { answer: () => within(patienceMs, callback.answer, late) };
  };

  const takeUnread = (matches: (screen: Screen) => boolean): Screen | undefined => {
    const index = room.readings.findIndex((reading, at) => at >= read && matches(screenOf(reading)));
    if (index < 0) return undefined;
    read = index + 1;
    return screenOf(room.readings[index]!);
  };

  return {
    account,
    room,
    messages: room.messages,
    send: (text, { replyTo } = {}) => say({ text, entities: entitiesIn(text), ...(replyTo && { replyTo }) }),
    sendPhoto: (picture, caption = '') =>
      say({ text: caption, entities: entitiesIn(caption), photo: world.files.addPhoto(picture) }),
    sendDocument: (bytes, name, mimeType) =>
      say({ text: '', entities: [], document: world.files.addDocument(bytes, name, mimeType) }),
    sendForwarded: (text, from) => {
      const date = Math.floor(world.now() / 1000) - 60;
      return say({ text, entities: entitiesIn(text), origin: { type: 'user', sender_user: from, date } });
    },
    press: async caption => {
      const message = room.messages.findLast(one => !one.isDeleted && findButton([one], caption));
      if (!message)
        throw new Error(`There is no button "${caption}"${otherButtons(room)}\n${transcript(room)}`);
      return query(message, dataOf(findButton([message], caption)!));
    },
    pressOn: async (message, caption) => {
      const button = findButton([message, ...message.edits.toReversed()], caption);
      if (!button)
        throw new Error(`Message #${message.id} never had a button "${caption}"\n${transcript(room)}`);
      return query(message, dataOf(button));
    },
    forgeCallback: query,
    reads: async (expected, withinMs = patienceMs) => {
      const matches = expected instanceof RegExp ? (screen: Screen) => expected.test(screen.text) : expected;
      const late = () => new Error(`${account.first_name} did not read ${expected}\n${transcript(room)}`);
      return takeUnread(matches) ?? waitFor(room, () => takeUnread(matches), withinMs, late);
    },
    screen: () => {
      const message = room.messages.findLast(({ from, isDeleted }) => from.is_bot && !isDeleted);
      if (!message) throw new Error(`The bot shows nothing\n${transcript(room)}`);
      return screenOf({ message, version: message });
    },
  };
}

const screenOf = ({ message, version }: Reading): Screen => ({
  text: version.text,
  buttons: captionsOf(version.keyboard),
  message,
});

/** Of a message that is gone, a query tells only where it was. */
const shownInQuery = (message: ChatMessage): NonNullable<CallbackQuery['message']> =>
  message.isDeleted ? { chat: message.room.chat, message_id: message.id, date: 0 } : toWire(message);

const findButton = (
  versions: Pick<ChatMessage, 'keyboard'>[],
  caption: string,
): InlineKeyboardButton | undefined =>
  versions.flatMap(({ keyboard }) => keyboard.flat()).find(({ text }) => text === caption);

function dataOf(button: InlineKeyboardButton): string {
  if ('callback_data' in button) return button.callback_data;
  throw new Error(`The button "${button.text}" does not call the bot: ${JSON.stringify(button)}`);
}

function otherButtons(room: Room): string {
  const there = room.messages
    .filter(({ isDeleted }) => !isDeleted)
    .flatMap(({ keyboard }) => captionsOf(keyboard).flat());
  return there.length > 0
    ? `; there are ${there.map(caption => `"${caption}"`).join(', ')}`
    : ', nor any other';
}

/** What Telegram finds in a text by itself; bots know commands by it. */
function entitiesIn(text: string): MessageEntity[] {
  const found = (type: 'bot_command' | 'url', pattern: RegExp) =>
    [...text.matchAll(pattern)].map(({ 0: match, index: offset }) => ({
      type,
      offset,
      length: match.length,
    }));
  return [
    ...found('bot_command', /(?<=^|\s)\/[a-z0-9_]{1,64}(@[a-z0-9_]+)?(?=$|\s)/gi),
    ...found('url', /https?:\/\/\S+/g),
  ].sort((a, b) => a.offset - b.offset);
}

async function waitFor<Result>(
  room: Room,
  look: () => Result | undefined,
  milliseconds: number,
  late: () => Error,
): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  const onChange = () => {
    const result = look();
    if (result === undefined) return;
    room.changes.off('change', onChange);
    resolve(result);
  };
  room.changes.on('change', onChange);
  return within(milliseconds, promise, late).finally(() => room.changes.off('change', onChange));
}

async function within<Result>(
  milliseconds: number,
  promise: Promise<Result>,
  late: () => Error,
): Promise<Result> {
  const { promise: limit, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), milliseconds);
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}
