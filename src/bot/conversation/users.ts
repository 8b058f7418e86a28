import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { findRow, hasRow, type Queryable, readRow } from '../../db/postgres/index.ts';
import { pruneOlder } from '../../db/retention/index.ts';
import type { Language } from '../texts/index.ts';

/** The open question of a user: expects a typed answer or one press of its button. */
export interface Dialogue {
  /** New for every question, so buttons of earlier questions do nothing. */
  nonce: string;
  step: string;
  partnerId?: Id<'prt'>;
  args: string[];
}

export interface ChatUser {
  userId: bigint;
  language: Language;
  muted: string[];
  partnerId: Id<'prt'> | undefined;
  dialogue: Dialogue | null;
  isNew: boolean;
}

/** Stores a user at the first update; any later one shows that the bot is not blocked any more. */
export async function upsertUser(db: Queryable, clock: Clock, userId: bigint, language: Language) {
  const row = await readRow<Omit<ChatUser, 'partnerId'> & { partner_id: string | null }>(db, {
    text: `INSERT INTO chat_users (user_id, language, created_at) VALUES ($1, $2, $3)
           ON CONFLICT (user_id) DO UPDATE SET blocked_at = NULL
           RETURNING user_id AS "userId", language, muted, partner_id, dialogue, xmax = 0 AS "isNew"`,
    values: [userId, language, instantOf(clock)],
  });
  const { partner_id, ...user } = row;
  return { ...user, partnerId: partner_id === null ? undefined : idFromUuid('prt', partner_id) };
}

/** The language of the bot's messages, and the topics that a user has muted; undefined if they never wrote to the bot. */
export const findChatSettings = (db: Queryable, userId: bigint) =>
  findRow<Pick<ChatUser, 'language' | 'muted'>>(db, {
    text: 'SELECT language, muted FROM chat_users WHERE user_id = $1',
    values: [userId],
  });

const setColumn =
  <Value>(column: string) =>
  async (db: Queryable, userId: bigint, value: Value): Promise<void> => {
    const text = `UPDATE chat_users SET ${column} = $2 WHERE user_id = $1`;
    await db.query({ text, values: [userId, value] });
  };

export const setLanguage = setColumn<Language>('language');
export const setMuted = setColumn<string[]>('muted');
export const setBlocked = setColumn<Date>('blocked_at');
export const setDialogue = setColumn<Dialogue | null>('dialogue');

const setPartnerUuid = setColumn<string>('partner_id');
export const setPartner = (db: Queryable, userId: bigint, partnerId: Id<'prt'>) =>
  setPartnerUuid(db, userId, uuidFromId(partnerId));

/** True for one of several concurrent presses or answers, so that what follows happens once. */
export const consumeDialogue = (db: Queryable, userId: bigint, nonce: string) =>
  hasRow(db, {
    text: `UPDATE chat_users SET dialogue = NULL WHERE user_id = $1 AND dialogue->>'nonce' = $2`,
    values: [userId, nonce],
  });

/** Anybody may write to the bot. People who are in no team are forgotten; if they write again, they are new. */
export const pruneChatUsers = (db: Queryable, clock: Clock) =>
  pruneOlder(db, clock, {
    table: 'chat_users',
    since: 'created_at',
    keptDays: 90,
    where: 'NOT EXISTS (SELECT FROM members m WHERE m.user_id = t.user_id)',
  });
