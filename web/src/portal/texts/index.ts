import { speakWith } from '../../texts/common.ts';
import { inBothWith, useTexts } from '../../texts/language.ts';
import { inRussian } from './server-sentences.ts';
import { texts } from './shared.texts.ts';

export { type Facts, useLanguage, useTexts, type Words, wordIn } from '../../texts/language.ts';

speakWith({ errors: { en: texts.en.errors, ru: texts.ru.errors }, inRussian });

/** The texts of one page, with those that all pages of the portal share. */
export const inBoth = inBothWith(texts);

/** The texts that all pages of the portal share. */
export const usePortal = () => useTexts(texts);
