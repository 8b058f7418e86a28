import type { CallbackQuery, InlineKeyboardButton, MessageEntity, Update, User } from 'grammy/types';
import type { CallbackAnswer } from './callbacks.ts';
import { type ChatMessage, type ChatState, type Draft, type Reading, toWire } from './chats.ts';
import type { World } from './context.ts';
import { captionsOf, transcript } from './transcript.ts';

/** One message of the bot as a user sees it, as sent or as edited. */
export interface Screen {
  text: string;
  buttons: string[][];
  message: ChatMessage;
}

export interface Press {
  /** The bot's answer to the callback query, within a few seconds. */
  answer(): Promise<CallbackAnswer>;
}

/** A user in a private chat with the bot, or in a group. */
export interface FakeUser {
  readonly account: User;
  readonly chatState: ChatState;
  /** All messages of the chat, the oldest first. */
  readonly messages: readonly ChatMessage[];
  send(text: string, options?: { replyTo?: ChatMessage }): Promise<ChatMessage>;
  sendPhoto(picture: Buffer, caption?: string): Promise<ChatMessage>;
  sendDocument(bytes: Buffer, name: string, mimeType?: string): Promise<ChatMessage>;
  /** Forwards a message of another user. */
  sendForwarded(text: string, from: User): Promise<ChatMessage>;
  /** Presses the button on the newest message that has it. */
  press(caption: string): Promise<Press>;
  /** Presses a button that the message has or once had, even if it is deleted: a slow or a replayed press. */
  pressOn(message: ChatMessage, caption: string): Promise<Press>;
  /** A press with any data on any message, also of a chat that this person is not in. */
  forgeCallback(message: ChatMessage, data: string): Promise<Press>;
  /**
   * Waits for something of the bot that matches and was not read yet. FakeUsers read from the top: what comes before
   * it counts as read, too. A message that is edited is there to be read again.
   */
  reads(expected: RegExp | ((screen: Screen) => boolean), withinMs?: number): Promise<Screen>;
  /** The newest message of the bot that is not deleted. */
  screen(): Screen;
}

const timeoutMs = 5_000;

export function createFakeUser(
  world: World,
  chatState: ChatState,
  account: User,
  isVisibleToBot: (draft: Draft) => boolean,
): FakeUser {
  let read = 0;

  const post = async (draft: Omit<Draft, 'from'>): Promise<ChatMessage> => {
    if (chatState.forbidden !== undefined)
      throw new Error(`${account.first_name} cannot write: ${chatState.forbidden}`);
    chatState.isOpen = true;
    const full = { from: account, ...draft };
    const message = world.chats.post(chatState, full);
    // The types allow channel posts without an author; there are no channels here.
    const wire = toWire(message) as NonNullable<Update['message']>;
    if (isVisibleToBot(full)) world.updates.push(chatState.chat.id, { message: wire });
    return message;
  };

  const query = async (message: ChatMessage, data: string): Promise<Press> => {
    const callback = world.callbacks.create(account.id);
    const callbackQuery: CallbackQuery = {
      id: callback.id,
      from: account,
      message: shownInQuery(message),
      chat_instance: message.chatState.instance,
      data,
    };
    world.updates.push(account.id, { callback_query: callbackQuery });
    const late = () => new Error(`The press of "${data}" was not answered in time\n${transcript(chatState)}`);
    return { answer: () => within(timeoutMs, callback.answer, late) };
  };

  const takeUnread = (matches: (screen: Screen) => boolean): Screen | undefined => {
    const index = chatState.readings.findIndex((reading, at) => at >= read && matches(screenOf(reading)));
    if (index < 0) return undefined;
    read = index + 1;
    return screenOf(chatState.readings[index]!);
  };

  return {
    account,
    chatState,
    messages: chatState.messages,
    send: (text, { replyTo } = {}) => post({ text, entities: entitiesIn(text), ...(replyTo && { replyTo }) }),
    sendPhoto: (picture, caption = '') =>
      post({ text: caption, entities: entitiesIn(caption), photo: world.files.addPhoto(picture) }),
    sendDocument: (bytes, name, mimeType) =>
      post({ text: '', entities: [], document: world.files.addDocument(bytes, name, mimeType) }),
    sendForwarded: (text, from) => {
      const date = Math.floor(world.now() / 1000) - 60;
      return post({ text, entities: entitiesIn(text), origin: { type: 'user', sender_user: from, date } });
    },
    press: async caption => {
      const message = chatState.messages.findLast(one => !one.isDeleted && findButton([one], caption));
      if (!message)
        throw new Error(
          `There is no button "${caption}"${otherButtons(chatState)}\n${transcript(chatState)}`,
        );
      return query(message, dataOf(findButton([message], caption)!));
    },
    pressOn: async (message, caption) => {
      const button = findButton([message, ...message.edits.toReversed()], caption);
      if (!button)
        throw new Error(`Message #${message.id} never had a button "${caption}"\n${transcript(chatState)}`);
      return query(message, dataOf(button));
    },
    forgeCallback: query,
    reads: async (expected, withinMs = timeoutMs) => {
      const matches = expected instanceof RegExp ? (screen: Screen) => expected.test(screen.text) : expected;
      const late = () =>
        new Error(`${account.first_name} did not read ${expected}\n${transcript(chatState)}`);
      return takeUnread(matches) ?? waitFor(chatState, () => takeUnread(matches), withinMs, late);
    },
    screen: () => {
      const message = chatState.messages.findLast(({ from, isDeleted }) => from.is_bot && !isDeleted);
      if (!message) throw new Error(`The bot shows nothing\n${transcript(chatState)}`);
      return screenOf({ message, version: message });
    },
  };
}

const screenOf = ({ message, version }: Reading): Screen => ({
  text: version.text,
  buttons: captionsOf(version.keyboard),
  message,
});

/** A query about a deleted message has only its chat and id. */
const shownInQuery = (message: ChatMessage): NonNullable<CallbackQuery['message']> =>
  message.isDeleted ? { chat: message.chatState.chat, message_id: message.id, date: 0 } : toWire(message);

const findButton = (
  versions: Pick<ChatMessage, 'keyboard'>[],
  caption: string,
): InlineKeyboardButton | undefined =>
  versions.flatMap(({ keyboard }) => keyboard.flat()).find(({ text }) => text === caption);

function dataOf(button: InlineKeyboardButton): string {
  if ('callback_data' in button) return button.callback_data;
  throw new Error(`The button "${button.text}" does not call the bot: ${JSON.stringify(button)}`);
}

function otherButtons(chatState: ChatState): string {
  const there = chatState.messages
    .filter(({ isDeleted }) => !isDeleted)
    .flatMap(({ keyboard }) => captionsOf(keyboard).flat());
  return there.length > 0
    ? `; there are ${there.map(caption => `"${caption}"`).join(', ')}`
    : ', nor any other';
}

/** The entities that Telegram detects in a text; libraries recognise commands by them. */
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
  chatState: ChatState,
  look: () => Result | undefined,
  milliseconds: number,
  late: () => Error,
): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  const onChange = () => {
    const result = look();
    if (result === undefined) return;
    chatState.changes.off('change', onChange);
    resolve(result);
  };
  chatState.changes.on('change', onChange);
  return within(milliseconds, promise, late).finally(() => chatState.changes.off('change', onChange));
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
