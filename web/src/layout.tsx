import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import type { Overview } from '../../src/console/shapes/overview.ts';
import { AccountMenu } from './account-menu.tsx';
import { connected, query } from './api.ts';
import { Keys } from './keyboard.tsx';
import { navigation } from './navigation.ts';
import { Palette } from './palette.tsx';
import { Icon } from './parts/icon.tsx';
import { useLive } from './parts/polling.ts';
import { Preferences } from './parts/preferences.tsx';
import { SearchField } from './parts/search-field.tsx';
import { useShared } from './texts/index.ts';

/** The frame of every page: navigation, search, account menu. */
export function Layout({ children }: { children: ReactNode }) {
  const t = useShared();
  const [path] = useLocation();
  const [open, setOpen] = useState(false);
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);
  const overview = useLive<Overview>(['overview', 60], '/overview?minutes=60', 5000).data;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu of a narrow window closes after navigation
  useEffect(() => setOpen(false), [path]);

  return (
    <div className={open ? 'shell shell-open' : 'shell'}>
      <a className="skip" href="#content">
        {t.skip}
      </a>
      <header className="top">
        <button
          type="button"
          className="icon-button burger"
          aria-expanded={open}
          aria-controls="navigation"
          aria-label={t.menu}
          onClick={() => setOpen(!open)}
        >
          <Icon name="menu" />
        </button>
        <Link href="/" className="brand">
          <img src="/console/icon.svg" alt="" width={24} height={24} />
          <span>Kopeck</span>
        </Link>
        {path === '/payments' ? <div className="search" /> : <Search />}
        <Preferences />
        <AccountMenu />
      </header>
      <nav className="side" id="navigation" aria-label={t.mainNavigation}>
        <div className="side-inner">
          {(['work', 'money', 'control'] as const).map(group => (
            <div key={group}>
              <p className="side-group" id={`group-${group}`}>
                {t.groups[group]}
              </p>
              <ul aria-labelledby={`group-${group}`}>
                {navigation
                  .filter(place => place.group === group)
                  .map(place => (
                    <li key={place.name}>
                      <Link
                        href={place.path}
                        aria-current={isAt(path, place.path) ? 'page' : undefined}
                        className="side-link"
                      >
                        <Icon name={place.name} />
                        <span>{t.nav[place.name]}</span>
                        <Waits count={waiting(overview, place.name)} />
                      </Link>
                    </li>
                  ))}
              </ul>
            </div>
          ))}
        </div>
      </nav>
      <main id="content" tabIndex={-1}>
        {!isConnected && (
          <div className="banner" role="status">
            {t.connectionLost}
          </div>
        )}
        {overview?.maintenance && <div className="banner">{t.maintenance}</div>}
        {children}
      </main>
      <Keys />
      <Palette />
    </div>
  );
}

const isAt = (path: string, place: string) =>
  place === '/' ? path === '/' : path === place || path.startsWith(`${place}/`);

function waiting(overview: Overview | undefined, name: string): number {
  if (name === 'review') return overview?.review.count ?? 0;
  if (name === 'requests') return overview?.requests_waiting ?? 0;
  if (name === 'deposits') return overview?.deposits_held ?? 0;
  if (name === 'partners') return overview?.partners_to_approve ?? 0;
  return 0;
}

const Waits = ({ count }: { count: number }) =>
  count > 0 ? <span className="side-count number">{count > 999 ? '999+' : count}</span> : null;

/** Finds a payment by anything that identifies it. The list of payments has its own search. */
function Search() {
  const t = useShared();
  const [, go] = useLocation();
  const [text, setText] = useState('');
  return (
    <search className="search">
      <form
        onSubmit={event => {
          event.preventDefault();
          go(`/payments${query({ q: text.trim() })}`);
        }}
      >
        <SearchField
          size="sm"
          aria-label={t.searchPayments}
          placeholder={t.searchHint}
          value={text}
          onChange={event => setText(event.currentTarget.value)}
        />
      </form>
    </search>
  );
}
