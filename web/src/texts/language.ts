import { useSyncExternalStore } from 'react';
import { outside } from '../api.ts';

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

/** A text in both languages. What is the same in both is written once. */
export type Both = readonly [en: string, ru: string];
export type Words = Record<string, Both | string>;
export type Facts = Record<string, (value: string) => Both>;

interface Texts {
  readonly [key: string]: string | Both | ((...values: never[]) => Both) | Texts;
}

type InOne<T> = T extends string | Both
  ? string
  : T extends (...values: infer Values) => Both
    ? (...values: Values) => string
    : { readonly [Key in keyof T]: InOne<T[Key]> };

/** The texts of one page in both languages, loaded together with the page. */
export const inBoth = <const T extends Texts>(texts: T) => ({
  en: inOne(texts, 0) as InOne<T>,
  ru: inOne(texts, 1) as InOne<T>,
});

function inOne(text: Texts[string], language: 0 | 1): unknown {
  if (typeof text === 'string') return text;
  if (isBoth(text)) return text[language];
  if (typeof text === 'function') return (...values: never[]) => text(...values)[language];
  return Object.fromEntries(Object.entries(text).map(([key, one]) => [key, inOne(one, language)]));
}

const isBoth = (text: Texts[string]): text is Both => Array.isArray(text);

export const useTexts = <T>(texts: { en: T; ru: T }): T => texts[useLanguage()];

/** A code of the server (a state, a kind) in the reader's language; an unknown code is shown as it is. */
export const wordIn = (words: Record<string, string>, word: string): string => words[word] ?? word;
