import { useSyncExternalStore } from 'react';
import { outside, Refused } from '../api.ts';
import { en } from './en.ts';
import { ru } from './ru.ts';
import { inRussian } from './server-sentences.ts';

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

/** The texts of one page in both languages, loaded together with the page. */
export const inBoth = <T extends object>(texts: { en: T; ru: NoInfer<T> }): { en: T; ru: T } => texts;

export const useTexts = <T>(texts: { en: T; ru: T }): T => texts[useLanguage()];

const shared = { en, ru };

/** The texts that all pages share. */
export const useShared = () => useTexts(shared);

/** A sentence that the server wrote in English, in the reader's language. */
export function useServerText(): (text: string) => string {
  const language = useLanguage();
  return language === 'ru' ? inRussian : unchanged;
}

const unchanged = (text: string) => text;

/** Any error as a sentence. */
export function useSentence(): (error: unknown) => string {
  const t = useShared();
  const serverText = useServerText();
  return error => {
    if (!(error instanceof Refused)) return t.errors.internal_error;
    const message = serverText(error.message);
    const known = (t.errors as Record<string, string>)[error.code] ?? `${t.refused} ${message || error.code}`;
    const parts = [known];
    if (error.code === 'invalid_request') parts.push(message);
    if (error.retryAfterSec > 0) parts.push(t.waitMinutes(Math.ceil(error.retryAfterSec / 60)));
    if (error.status >= 500 && error.requestId) parts.push(`(${error.requestId})`);
    return parts.filter(Boolean).join(' ');
  };
}

/** A code of the server (a state, a kind) in the reader's language; an unknown code is shown as it is. */
export const wordIn = (words: Record<string, string>, word: string): string => words[word] ?? word;
