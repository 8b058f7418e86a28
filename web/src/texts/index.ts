import { speakWith } from './common.ts';
import { inBothWith, useTexts } from './language.ts';
import { inRussian } from './server-sentences.ts';
import { texts } from './shared.texts.ts';

export { useSentence, useServerText } from './common.ts';
export { type Both, type Facts, useLanguage, useTexts, type Words, wordIn } from './language.ts';

speakWith({ errors: { en: texts.en.errors, ru: texts.ru.errors }, inRussian });

/** The texts of one page, with those that all pages of the console share. */
export const inBoth = inBothWith(texts);

/** The texts that all pages of the console share. */
export const useShared = () => useTexts(texts);
