import { speakWith } from '../../texts/common.ts';
import { useTexts } from '../../texts/language.ts';
import { inRussian } from './server-sentences.ts';
import { texts } from './shared.texts.ts';

speakWith({ errors: { en: texts.en.errors, ru: texts.ru.errors }, inRussian });

/** The texts of the portal that several pages share. */
export const usePortal = () => useTexts(texts);
