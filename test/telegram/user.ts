import { randomUUID } from 'node:crypto';
import type { CallbackQuery, InlineKeyboardButton, MessageEntity, Update, User } from 'grammy/types';
import { type ChatMessage, type ChatState, type Draft, toWire } from './chats.ts';
import type { World } from './methods.ts';
import type { Keyboard } from './parameters.ts';

/** One message of the bot as a user sees it, as sent or as edited. */
export interface Screen {
  text: string;
  buttons: string[][];
  message: ChatMessage;
}

type Expected = RegExp | ((screen: Screen) => boolean);

export interface Press {
  /** The text that the bot answers the callback query with. */
  answer(): Promise<{ text: string | undefined }>;
}

/** A user in a private chat with the bot, or in a group. */
export interface FakeUser {
  readonly account: User;
  readonly chatState: ChatState;
  /** All messages of the chat, the oldest first. */
  readonly messages: readonly ChatMessage[];
  send(text: string): Promise<void>;
  sendPhoto(picture: Buffer): Promise<void>;
  sendDocument(bytes: Buffer, name: string): Promise<void>;
  /** Forwards a message of another user. */
  sendForwarded(text: string, from: User): Promise<void>;
  /** Presses the button on the newest message that has it. */
  press(caption: string): Promise<Press>;
  /** Presses a button that the message has or once had, even if it is deleted: a slow or a replayed press. */
  pressOn(message: ChatMessage, caption: string): Promise<Press>;
  /** A press with any data on any message, also of a chat that this person is not in. */
  forgeCallback(message: ChatMessage, data: string): Promise<Press>;
  /** The same two, until the bot has answered the callback query; resolves with its text. */
  presses(caption: string): Promise<string | undefined>;
  forges(message: ChatMessage, data: string): Promise<string | undefined>;
  /**
   * Waits for something of the bot that matches and was not read yet. Users read from the top: what comes before
   * it counts as read, too. A message that is edited is there to be read again.
   */
  reads(expected: Expected): Promise<Screen>;
  /** Presses a button and reads what follows, for each pair in turn; resolves with the last that is read. */
  goes(...steps: (readonly [caption: string, expected: Expected])[]): Promise<Screen>;
  /** Sends a text and reads what follows. */
  writes(text: string, expected: Expected): Promise<Screen>;
  /** The newest message of the bot that is not deleted. */
  screen(): Screen;
}

/** A user in a private chat with the bot. */
export interface PrivateUser extends FakeUser {
  block(): void;
  unblock(): void;
}

/** Enough for a busy machine. */
const timeoutMs = 100_000;

function createFakeUser(world: World, chatState: ChatState, account: User): FakeUser {
  let read = 0;
  const { messages } = chatState;
  const shown = () => messages.filter(({ isDeleted }) => !isDeleted);
  const transcript = () => messages.map(describe).join('\n') || '(no messages)';
  const fail = (why: string): never => {
    throw new Error(`${why}\n${transcript()}`);
  };

  const post = async (draft: Partial<Draft> & { text: string }) => {
    chatState.isOpen = true;
    const message = world.chats.post(chatState, {
      from: account,
      entities: entitiesIn(draft.text),
      ...draft,
    });
    // In groups a bot gets only commands, unless it is an administrator.
    if (chatState.chat.type === 'private' || draft.text.startsWith('/'))
      world.updates.push({ message: toWire(message) as NonNullable<Update['message']> });
  };

  const query = async (message: ChatMessage, data: string): Promise<Press> => {
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    world.presses.set(id, resolve);
    // A query about a deleted message has only its chat and id.
    const { chat } = message.chatState;
    const known = message.isDeleted ? { chat, message_id: message.id, date: 0 as const } : toWire(message);
    const callbackQuery: CallbackQuery = { id, from: account, message: known, chat_instance: '1', data };
    world.updates.push({ callback_query: callbackQuery });
    return {
      answer: async () => ({
        text: await inTime(promise, () => fail(`The press of "${data}" was not answered in time`)),
      }),
    };
  };

  const takeUnread = (matches: (screen: Screen) => boolean): Screen | undefined => {
    const index = chatState.readings.findIndex((reading, at) => at >= read && matches(screenOf(reading)));
    if (index < 0) return undefined;
    read = index + 1;
    return screenOf(chatState.readings[index]!);
  };

  const user: FakeUser = {
    account,
    chatState,
    messages,
    send: text => post({ text }),
    sendPhoto: picture => post({ text: '', photo: world.chats.addPhoto(picture) }),
    sendDocument: (bytes, name) => post({ text: '', document: world.chats.addFile(bytes, name) }),
    sendForwarded: (text, from) => post({ text, origin: { type: 'user', sender_user: from, date: 1 } }),
    press: async caption => {
      const message = shown().findLast(one => findButton([one], caption));
      return message ? user.pressOn(message, caption) : fail(`There is no button "${caption}"`);
    },
    pressOn: async (message, caption) => {
      const button = findButton([message, ...message.edits.toReversed()], caption);
      if (!button || !('callback_data' in button)) return fail(`#${message.id} had no button "${caption}"`);
      return query(message, button.callback_data);
    },
    forgeCallback: query,
    presses: async caption => (await (await user.press(caption)).answer()).text,
    forges: async (message, data) => (await (await query(message, data)).answer()).text,
    reads: async expected => {
      const matches = expected instanceof RegExp ? (screen: Screen) => expected.test(screen.text) : expected;
      const { promise, resolve } = Promise.withResolvers<Screen>();
      const look = () => {
        const screen = takeUnread(matches);
        if (!screen) return;
        chatState.changes.off('change', look);
        resolve(screen);
      };
      chatState.changes.on('change', look);
      look();
      return inTime(promise, () => {
        chatState.changes.off('change', look);
        return fail(`${account.first_name} did not read ${expected}`);
      });
    },
    goes: async (...steps) => {
      let last = user.screen();
      for (const [caption, expected] of steps) {
        await user.press(caption);
        last = await user.reads(expected);
      }
      return last;
    },
    writes: async (text, expected) => {
      await user.send(text);
      return user.reads(expected);
    },
    screen: () => {
      const message = shown().findLast(({ from }) => from.is_bot);
      return message ? screenOf({ message, version: message }) : fail('The bot shows nothing');
    },
  };
  return user;
}

const captionsOf = (keyboard: Keyboard) => keyboard.map(row => row.map(({ text }) => text));

const screenOf = ({ message, version }: ChatState['readings'][number]): Screen => ({
  text: version.text,
  buttons: captionsOf(version.keyboard),
  message,
});

/** For the messages of failed tests. */
function describe({ from, id, edits, isDeleted, text, photo, keyboard }: ChatMessage): string {
  const marks = `${edits.length > 0 ? ' (edited)' : ''}${isDeleted ? ' (deleted)' : ''}`;
  const rows = captionsOf(keyboard).map(row => `\n    [${row.join('] [')}]`);
  return `${from.first_name} #${id}${marks}: ${photo ? '[photo] ' : ''}${text}${rows.join('')}`;
}

const findButton = (
  versions: Pick<ChatMessage, 'keyboard'>[],
  caption: string,
): InlineKeyboardButton | undefined =>
  versions.flatMap(({ keyboard }) => keyboard.flat()).find(({ text }) => text === caption);

/** The commands in a text as Telegram marks them; libraries recognise them by that. */
const entitiesIn = (text: string): MessageEntity[] =>
  [...text.matchAll(/(?<=^|\s)\/[a-z0-9_]{1,64}(@[a-z0-9_]+)?(?=$|\s)/gi)].map(
    ({ 0: { length }, index }) => ({
      type: 'bot_command',
      offset: index,
      length,
    }),
  );

async function inTime<Result>(promise: Promise<Result>, late: () => never): Promise<Result> {
  const { promise: limit, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    try {
      late();
    } catch (error) {
      reject(error);
    }
  }, timeoutMs);
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

interface NewUser {
  firstName: string;
  languageCode?: 'ru' | 'en';
}

export function createFakeUsers(world: World) {
  // Larger than 32 bits, like the ids of new accounts.
  let nextUserId = 7_300_000_001;
  const accountOf = ({ firstName, languageCode = 'ru' }: NewUser): User => ({
    ...{ id: nextUserId++, is_bot: false, first_name: firstName, language_code: languageCode },
  });

  const user = (newcomer: NewUser): PrivateUser => {
    const account = accountOf(newcomer);
    const { id, first_name } = account;
    const chatState = world.chats.open({ id, type: 'private', first_name }, false);
    const setBlocked = (isBlocked: boolean) => {
      chatState.forbidden = isBlocked ? 'bot was blocked by the user' : undefined;
      const inside = { user: world.bot, status: 'member' } as const;
      const outside = { user: world.bot, status: 'kicked', until_date: 0 } as const;
      const [before, after] = isBlocked ? [inside, outside] : [outside, inside];
      const change = { chat: chatState.chat, from: account, date: 1 };
      world.updates.push({ my_chat_member: { ...change, old_chat_member: before, new_chat_member: after } });
    };
    return {
      ...createFakeUser(world, chatState, account),
      block: () => setBlocked(true),
      unblock: () => setBlocked(false),
    };
  };

  const group = ({ id, title }: { id: number; title: string }) => {
    const chatState = world.chats.open({ id, title, type: 'supergroup' }, true);
    return {
      chatState,
      join: (who: NewUser) => createFakeUser(world, chatState, accountOf(who)),
      removeBot: () => {
        chatState.forbidden = 'bot was kicked from the supergroup chat';
      },
    };
  };
  return { user, group };
}
