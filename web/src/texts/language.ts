import { useSyncExternalStore } from 'react';
import { outside } from '../api.ts';
import { common } from './common.texts.ts';
import { type InOne, inOne, type Texts } from './in-one.ts';

export type { Both, Facts, Words } from './in-one.ts';

export type Language = 'en' | 'ru';

const key = 'kopeck-language';

export const language = outside<Language>(remembered());
document.documentElement.lang = language.get();

function remembered(): Language {
  const kept = localStorage.getItem(key);
  if (kept === 'en' || kept === 'ru') return kept;
  return navigator.language.startsWith('ru') ? 'ru' : 'en';
}

export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(key, chosen);
  document.documentElement.lang = chosen;
  language.set(chosen);
}

export const useLanguage = (): Language => useSyncExternalStore(language.subscribe, language.get);

/**
 * The texts of one page in both languages, loaded together with the page; and those that pages share, unless the page has
 * another one of that name.
 */
export const inBothWith =
  <Shared extends object>(shared: { en: Shared; ru: Shared }) =>
  <const T extends Texts>(texts: T) => ({
    en: { ...shared.en, ...inOne(texts, 0) } as Omit<Shared, keyof T> & InOne<T>,
    ru: { ...shared.ru, ...inOne(texts, 1) } as Omit<Shared, keyof T> & InOne<T>,
  });

/** With what the pages of the console and of the portal share. */
export const inBoth = inBothWith(common);

export const useTexts = <T>(texts: { en: T; ru: T }): T => texts[useLanguage()];

/** A code of the server (a state, a kind) in the reader's language; an unknown code is shown as it is. */
export const wordIn = (words: Record<string, string>, word: string): string => words[word] ?? word;
