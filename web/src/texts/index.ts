import { speakWith } from './common.ts';
import { en } from './en.ts';
import { useTexts } from './language.ts';
import { ru } from './ru.ts';
import { inRussian } from './server-sentences.ts';

export { useSentence, useServerText } from './common.ts';
export { inBoth, useLanguage, useTexts, wordIn } from './language.ts';

const shared = { en, ru };
speakWith({ errors: { en: en.errors, ru: ru.errors }, inRussian });

/** The texts that all pages of the console share. */
export const useShared = () => useTexts(shared);
