import type { Language } from '../../bot/index.ts';

export interface NoticeSettings {
  /** The language of the bot's messages; null: this person has never written to the bot. */
  language: Language | null;
  /** Notices of the bot that can be muted; those about security cannot. */
  topics: { topic: string; is_muted: boolean }[];
}
