import { speakWith } from './common.ts';
import { useTexts } from './language.ts';
import { inRussian } from './server-sentences.ts';
import { texts } from './shared.texts.ts';

export { useSentence, useServerText } from './common.ts';
export { type Both, type Facts, inBoth, useLanguage, useTexts, type Words, wordIn } from './language.ts';

speakWith({ errors: { en: texts.en.errors, ru: texts.ru.errors }, inRussian });

/** The texts that all pages of the console share. */
export const useShared = () => useTexts(texts);
