import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import type { Overview } from '../../src/console/shapes.ts';
import { query } from './api.ts';
import { Keys } from './keyboard.tsx';
import { navigation } from './navigation.ts';
import { Palette } from './palette.tsx';
import { useSession } from './parts/action.tsx';
import { SearchField } from './parts/fields.tsx';
import { useLive } from './parts/page.tsx';
import { AccountMenu, PlaceList, Shell } from './parts/shell.tsx';
import { useShared } from './texts/index.ts';

/** The frame of every page: navigation, search, account menu. */
export function Layout({ children }: { children: ReactNode }) {
  const t = useShared();
  const [path] = useLocation();
  const overview = useLive<Overview>('/overview?minutes=60', 5000).data;
  return (
    <>
      <Shell
        middle={path === '/payments' ? <div className="search" /> : <Search />}
        account={<Account />}
        side={(['work', 'money', 'control'] as const).map(group => (
          <div key={group}>
            <p className="side-group" id={`group-${group}`}>
              {t.groups[group]}
            </p>
            <PlaceList
              label={`group-${group}`}
              places={navigation
                .filter(place => place.group === group)
                .map(({ name, path: to }) => ({
                  path: to,
                  icon: name,
                  text: t.nav[name],
                  mark: <Waits count={waiting(overview, name)} />,
                }))}
            />
          </div>
        ))}
      >
        {overview?.maintenance && <div className="banner">{t.maintenance}</div>}
        {children}
      </Shell>
      <Keys />
      <Palette />
    </>
  );
}

/** The signed-in operator, and signing out. */
function Account() {
  const t = useShared();
  const { name, role } = useSession().operator;
  return (
    <AccountMenu
      name={name}
      role={t.roles[role]}
      title={t.signedInAs(name)}
      besides={<span className="dim"> · {t.roles[role]}</span>}
      link={['/settings/sessions', t.sessions]}
    />
  );
}

function waiting(overview: Overview | undefined, name: string): number {
  if (name === 'review') return overview?.review.count ?? 0;
  if (name === 'requests') return overview?.requests_waiting ?? 0;
  if (name === 'alarms') return overview?.alarms.length ?? 0;
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
          onChange={setText}
        />
      </form>
    </search>
  );
}
