import { speakWith } from '../../texts/common.ts';
import { useTexts } from '../../texts/language.ts';
import { en } from './en.ts';
import { ru } from './ru.ts';
import { inRussian } from './server-sentences.ts';

const texts = { en, ru };
speakWith({ errors: { en: en.errors, ru: ru.errors }, inRussian });

/** The texts of the portal that several pages share. */
export const usePortal = () => useTexts(texts);
