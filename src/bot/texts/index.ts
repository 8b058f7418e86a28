import { en, type Texts as TextsOfEnglish } from './en.ts';
import { ru } from './ru.ts';

/** All that the bot says. What is missing in a language does not compile. */
export const textsByLanguage = { ru, en };
export type Texts = TextsOfEnglish;
export type Language = keyof typeof textsByLanguage;
export const languages = ['ru', 'en'] as const satisfies Language[];
