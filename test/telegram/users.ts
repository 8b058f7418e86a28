import type { Chat, ChatMemberUpdated, User } from 'grammy/types';
import type { ChatState, Draft } from './chats.ts';
import type { World } from './context.ts';
import { authorOf } from './sending.ts';
import { createFakeUser, type FakeUser } from './user.ts';

export interface NewUser {
  id?: number;
  firstName: string;
  username?: string;
  languageCode?: 'ru' | 'en';
}

/** A user in a private chat with the bot. */
export interface PrivateUser extends FakeUser {
  block(): void;
  unblock(): void;
}

export interface Group {
  chatState: ChatState;
  /** A user who also has a private chat, or a new one. */
  join(who: FakeUser | NewUser): FakeUser;
  /** Removes the bot from the group. */
  removeBot(): void;
}

export interface FakeUsers {
  user(user: NewUser): PrivateUser;
  group(group: { id?: number; title: string; isBotAdmin?: boolean }): Group;
}

export function createFakeUsers(world: World): FakeUsers {
  // Larger than 32 bits, like the ids of new accounts.
  let nextUserId = 7_300_000_001;
  let nextGroupId = -1_002_200_000_001;

  const accountOf = ({ id, firstName, username, languageCode = 'ru' }: NewUser): User => ({
    id: id ?? nextUserId++,
    is_bot: false,
    first_name: firstName,
    ...(username !== undefined && { username }),
    language_code: languageCode,
  });

  const user = (newcomer: NewUser): PrivateUser => {
    const account = accountOf(newcomer);
    const chatState = world.chats.open(privateChatOf(account), false);
    const setBlocked = (isBlocked: boolean) => {
      chatState.forbidden = isBlocked ? 'bot was blocked by the user' : undefined;
      world.updates.push(chatState.chat.id, {
        my_chat_member: membership(world, chatState, account, isBlocked),
      });
    };
    return {
      ...createFakeUser(world, chatState, account, () => true),
      block: () => setBlocked(true),
      unblock: () => setBlocked(false),
    };
  };

  const group: FakeUsers['group'] = ({ id = nextGroupId--, title, isBotAdmin = false }) => {
    if (id >= 0) throw new Error('The id of a group is negative');
    const type = id < -1_000_000_000_000 ? 'supergroup' : 'group';
    const chatState = world.chats.open({ id, title, type }, true);
    return {
      chatState,
      join: who => {
        const account = 'account' in who ? who.account : accountOf(who);
        return createFakeUser(world, chatState, account, draft => isBotAdmin || isForBot(draft));
      },
      removeBot: () => {
        chatState.forbidden = `bot was kicked from the ${type} chat`;
      },
    };
  };
  return { user, group };
}

/** In groups a bot gets only commands and replies to its messages, unless it is an administrator. */
const isForBot = ({ text, replyTo }: Draft) => text.startsWith('/') || replyTo?.from.is_bot === true;

const privateChatOf = ({ id, first_name, username }: User): Chat => ({
  id,
  type: 'private',
  first_name,
  ...(username !== undefined && { username }),
});

function membership(world: World, chatState: ChatState, from: User, isBlocked: boolean): ChatMemberUpdated {
  const user = authorOf(world);
  const inside = { user, status: 'member' } as const;
  const outside = { user, status: 'kicked', until_date: 0 } as const;
  return {
    chat: chatState.chat,
    from,
    date: Math.floor(world.now() / 1000),
    old_chat_member: isBlocked ? inside : outside,
    new_chat_member: isBlocked ? outside : inside,
  };
}
