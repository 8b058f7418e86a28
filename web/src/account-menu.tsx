import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useRef } from 'react';
import { Link } from 'wouter';
import { signOut } from './api.ts';
import { Icon } from './parts/icon.tsx';
import { useSession } from './parts/session.ts';
import { chooseLanguage, useLanguage, useShared } from './texts/index.ts';

/** Light or dark, and the language. */
export function Preferences() {
  const t = useShared();
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

/** The signed-in operator, and signing out. */
export function AccountMenu() {
  const t = useShared();
  const { operator } = useSession();
  const menu = useRef<HTMLDivElement>(null);
  return (
    <>
      <button type="button" className="who" popoverTarget="who" title={t.signedInAs(operator.name)}>
        <Icon name="person" />
        <span className="who-name">
          {operator.name}
          <span className="dim"> · {t.roles[operator.role]}</span>
        </span>
      </button>
      <div id="who" popover="auto" className="who-menu" ref={menu}>
        <p className="dim">
          {operator.name} · {t.roles[operator.role]}
        </p>
        <Link href="/settings/sessions" onClick={() => menu.current?.hidePopover()}>
          {t.sessions}
        </Link>
        <button type="button" onClick={() => void signOut()}>
          {t.signOut}
        </button>
      </div>
    </>
  );
}
