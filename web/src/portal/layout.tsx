import { NativeSelect } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { connected, signOut } from '../api.ts';
import { Choice } from '../parts/choice.tsx';
import { Icon } from '../parts/icon.tsx';
import { Preferences } from '../parts/preferences.tsx';
import { useCommon } from '../texts/common.ts';
import { chooseMode, useMode, usePartner, usePerson } from './partner.ts';
import { usePortal } from './texts/index.ts';

/** The pages, in the order of the menu. */
const places = [
  { name: 'overview', path: '/', icon: 'overview', role: 'viewer' },
  { name: 'payments', path: '/payments', icon: 'payments', role: 'viewer' },
  { name: 'balance', path: '/balance', icon: 'deposits', role: 'viewer' },
  { name: 'statements', path: '/statements', icon: 'ledger', role: 'viewer' },
  { name: 'rate', path: '/rate', icon: 'rates', role: 'viewer' },
  { name: 'qr', path: '/qr', icon: 'qr', role: 'viewer' },
  { name: 'keys', path: '/keys', icon: 'key', role: 'developer' },
  { name: 'webhook', path: '/webhook', icon: 'deliveries', role: 'developer' },
  { name: 'requests', path: '/requests', icon: 'requestLog', role: 'developer' },
  { name: 'team', path: '/team', icon: 'team', role: 'viewer' },
  { name: 'settings', path: '/settings', icon: 'settings', role: 'viewer' },
] as const;

/** The frame of every page: navigation, partner, mode, account. */
export function Layout({ children }: { children: ReactNode }) {
  const t = usePortal();
  const common = useCommon();
  const [path] = useLocation();
  const { partner, may } = usePartner();
  const [open, setOpen] = useState(false);
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu of a narrow window closes after navigation
  useEffect(() => setOpen(false), [path]);

  return (
    <div className={open ? 'shell shell-open' : 'shell'}>
      <a className="skip" href="#content">
        {common.skip}
      </a>
      <header className="top">
        <button
          type="button"
          className="icon-button burger"
          aria-expanded={open}
          aria-controls="navigation"
          aria-label={common.menu}
          onClick={() => setOpen(!open)}
        >
          <Icon name="menu" />
        </button>
        <Link href="/" className="brand">
          <img src="/portal/icon.svg" alt="" width={24} height={24} />
          <span>Kopeck</span>
        </Link>
        <div className="search portal-choices">
          <ModeChoice />
        </div>
        <Preferences />
        <Account />
      </header>
      <nav className="side" id="navigation" aria-label={common.mainNavigation}>
        <div className="side-inner">
          <PartnerChooser />
          <ul>
            {places
              .filter(({ role }) => may(role))
              .map(place => (
                <li key={place.name}>
                  <Link
                    href={place.path}
                    aria-current={isAt(path, place.path) ? 'page' : undefined}
                    className="side-link"
                  >
                    <Icon name={place.icon} />
                    <span>{t.nav[place.name]}</span>
                  </Link>
                </li>
              ))}
          </ul>
          <a className="side-link portal-docs" href="/docs/">
            {t.documentation}
          </a>
        </div>
      </nav>
      <main id="content" tabIndex={-1}>
        {!isConnected && (
          <div className="banner" role="status">
            {common.connectionLost}
          </div>
        )}
        {partner.is_suspended && <div className="banner">{t.suspended}</div>}
        {children}
      </main>
    </div>
  );
}

/** The log of the webhook is a part of it. */
const isAt = (path: string, place: string) => {
  if (place === '/') return path === '/';
  if (place === '/webhook' && path.startsWith('/deliveries')) return true;
  return path === place || path.startsWith(`${place}/`);
};

function ModeChoice() {
  const t = usePortal();
  return (
    <Choice
      label={t.mode}
      value={useMode()}
      options={[
        ['live', t.live],
        ['test', t.test],
      ]}
      onChange={chooseMode}
    />
  );
}

/** One partner of several; with one there is nothing to choose. */
function PartnerChooser() {
  const t = usePortal();
  const { partners } = usePerson();
  const { partner } = usePartner();
  const [, go] = useLocation();
  if (partners.length === 1) return <p className="portal-partner">{partner.name}</p>;
  return (
    <NativeSelect
      className="portal-partner"
      aria-label={t.partner}
      value={partner.partner_id}
      onChange={event => go(`~/portal/${event.currentTarget.value}/`)}
      data={partners.map(({ partner_id, name }) => ({ value: partner_id, label: name }))}
    />
  );
}

function Account() {
  const t = usePortal();
  const common = useCommon();
  const { person } = usePerson();
  const { partner } = usePartner();
  const menu = useRef<HTMLDivElement>(null);
  return (
    <>
      <button type="button" className="who" popoverTarget="who" aria-label={person.name} title={person.name}>
        <Icon name="person" />
        <span className="who-name">{person.name}</span>
      </button>
      <div id="who" popover="auto" className="who-menu" ref={menu}>
        <p className="dim">
          {person.name} · {t.roles[partner.role]}
        </p>
        <Link href="/settings" onClick={() => menu.current?.hidePopover()}>
          {t.nav.settings}
        </Link>
        <button type="button" onClick={() => void signOut()}>
          {common.signOut}
        </button>
      </div>
    </>
  );
}
