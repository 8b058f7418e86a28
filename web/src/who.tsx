import { Menu, UnstyledButton, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useLocation } from 'wouter';
import { send, session } from './api.ts';
import { Icon } from './parts/icon.tsx';
import { useSession } from './parts/session.ts';
import { chooseLanguage, useLanguage, useShared } from './texts/index.ts';

/** Light or dark, and the language. */
export function Preferences() {
  const t = useShared();
  const language = useLanguage();
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false });
  const { setColorScheme } = useMantineColorScheme();
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

/** Whoever is signed in, and the way out. */
export function Who() {
  const t = useShared();
  const { operator } = useSession();
  const [, go] = useLocation();
  async function leave() {
    // Also without an answer: the page forgets, and the next look at the session says how it is.
    await send('/logout').catch(() => undefined);
    session.set(null);
  }
  return (
    <Menu position="bottom-end" width={220} shadow="md">
      <Menu.Target>
        <UnstyledButton className="who" title={t.signedInAs(operator.name)}>
          <Icon name="person" />
          <span className="who-name">
            {operator.name}
            <span className="dim"> · {t.roles[operator.role]}</span>
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {operator.name} · {t.roles[operator.role]}
        </Menu.Label>
        <Menu.Item onClick={() => go('/settings')}>{t.sessions}</Menu.Item>
        <Menu.Item onClick={() => void leave()}>{t.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
