import { Refused } from '../api.ts';
import { common } from './common.texts.ts';
import { type Language, useLanguage, useTexts } from './language.ts';

/** The texts of the parts that the console and the portal share. */
export const useCommon = () => useTexts(common);

interface Vocabulary {
  /** By the code of the refusal. */
  errors: Record<Language, Record<string, string>>;
  /** A sentence that the server wrote in English. */
  inRussian(text: string): string;
}

let vocabulary: Vocabulary;

/** The console and the portal each say once how they put errors into words. */
export function speakWith(chosen: Vocabulary): void {
  vocabulary = chosen;
}

/** A sentence that the server wrote in English, in the reader's language. */
export function useServerText(): (text: string) => string {
  const language = useLanguage();
  return language === 'ru' ? vocabulary.inRussian : unchanged;
}

const unchanged = (text: string) => text;

const badAmount = /_(rub|usdt): Input is not valid/;

/** Any error as a sentence. */
export function useSentence(): (error: unknown) => string {
  const t = useCommon();
  const language = useLanguage();
  const serverText = useServerText();
  return error => {
    const errors = vocabulary.errors[language];
    if (!(error instanceof Refused)) return errors.internal_error!;
    // Not the name of the field in the request.
    const message = badAmount.test(error.message) ? t.badAmount : serverText(error.message);
    const known = errors[error.code] ?? `${t.refused} ${message || error.code}`;
    const parts = [known];
    if (error.code === 'invalid_request') parts.push(message);
    if (error.retryAfterSec > 0) parts.push(t.waitMinutes(Math.ceil(error.retryAfterSec / 60)));
    if (error.status >= 500 && error.requestId) parts.push(`(${error.requestId})`);
    return parts.filter(Boolean).join(' ');
  };
}
