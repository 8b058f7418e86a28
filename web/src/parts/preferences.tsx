import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useCommon } from '../texts/common.ts';
import { chooseLanguage, useLanguage } from '../texts/language.ts';
import { Icon } from './icon.tsx';

/** Light or dark, and the language. */
export function Preferences() {
  const t = useCommon();
  const language = useLanguage();
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false });
  // Otherwise it would add an inline style, which the content security policy forbids.
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <>
      <button
        type="button"
        className="icon-button"
        onClick={() => chooseLanguage(language === 'en' ? 'ru' : 'en')}
        lang={language === 'en' ? 'ru' : 'en'}
        aria-label={language === 'en' ? 'RU: Русский' : 'EN: English'}
        title={language === 'en' ? 'Русский' : 'English'}
      >
        {language === 'en' ? 'RU' : 'EN'}
      </button>
      <button
        type="button"
        className="icon-button"
        onClick={() => setColorScheme(other)}
        aria-label={`${t.colours}: ${t[other]}`}
        title={`${t.colours}: ${t[other]}`}
      >
        <Icon name={scheme === 'dark' ? 'sun' : 'moon'} />
      </button>
    </>
  );
}
