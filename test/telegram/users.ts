import type { Chat, ChatMemberUpdated, User } from 'grammy/types';
import type { Draft, Room } from './chats.ts';
import type { World } from './context.ts';
import { authorOf } from './sending.ts';
import { createPerson, type Person } from './user.ts';

export interface NewUser {
  id?: number;
  firstName: string;
  username?: string;
  languageCode?: 'ru' | 'en';
}

/** Somebody in a private chat with the bot. */
export interface PrivateUser extends Person {
  block(): void;
  unblock(): void;
}

export interface Group {
  room: Room;
  /** The same human as in a private chat, or somebody new. */
  join(who: Person | NewUser): Person;
  /** The group throws the bot out. */
  removeBot(): void;
}

export interface People {
  user(user: NewUser): PrivateUser;
  group(group: { id?: number; title: string; isBotAdmin?: boolean }): Group;
}

export function createPeople(world: World): People {
  // Beyond 32 bits, as those of new accounts are.
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
    const room = world.chats.open(privateChatOf(account), false);
    const setBlocked = (isBlocked: boolean) => {
      room.forbidden = isBlocked ? 'bot was blocked by the user' : undefined;
      world.updates.push(room.chat.id, { my_chat_member: membership(world, room, account, isBlocked) });
    };
    return {
      ...createPerson(world, room, account, () => true),
      block: () => setBlocked(true),
      unblock: () => setBlocked(false),
    };
  };

  const group: People['group'] = ({ id = nextGroupId--, title, isBotAdmin = false }) => {
    if (id >= 0) throw new Error('The id of a group is negative');
    const type = id < -1_000_000_000_000 ? 'supergroup' : 'group';
    const room = world.chats.open({ id, title, type }, true);
    return {
      room,
      join: who => {
        const account = 'account' in who ? who.account : accountOf(who);
        return createPerson(world, room, account, draft => isBotAdmin || isForBot(draft));
      },
      removeBot: () => {
        room.forbidden = `bot was kicked from the ${type} chat`;
      },
    };
  };
  return { user, group };
}

/** In groups a bot hears only commands and replies to itself, unless it is an administrator. */
const isForBot = ({ text, replyTo }: Draft) => text.startsWith('/') || replyTo?.from.is_bot === true;

const privateChatOf = ({ id, first_name, username }: User): Chat => ({
  id,
  type: 'private',
  first_name,
  ...(username !== undefined && { username }),
});

function membership(world: World, room: Room, from: User, isBlocked: boolean): ChatMemberUpdated {
  const user = authorOf(world);
  const inside = { user, status: 'member' } as const;
  const outside = { user, status: 'kicked', until_date: 0 } as const;
  return {
    chat: room.chat,
    from,
    date: Math.floor(world.now() / 1000),
    old_chat_member: isBlocked ? inside : outside,
    new_chat_member: isBlocked ? outside : inside,
  };
}
