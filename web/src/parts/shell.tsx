import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { appPath, signOut } from '../api.ts';
import { useCommon } from '../texts/common.ts';
import { Icon, type IconName } from './icon.tsx';
import { Preferences } from './preferences.tsx';
import { Banner } from './root.tsx';

interface ShellProps {
  /** Between the name of the product and the preferences. */
  middle: ReactNode;
  account: ReactNode;
  /** The links to the pages. */
  side: ReactNode;
  children: ReactNode;
}

/** The frame of every page: the head, the navigation, the content. */
export function Shell({ middle, account, side, children }: ShellProps) {
  const t = useCommon();
  const [path] = useLocation();
  const [open, setOpen] = useState(false);

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
          <img src={`${appPath}/icon.svg`} alt="" width={24} height={24} />
          <span>Kopeck</span>
        </Link>
        {middle}
        <Preferences />
        {account}
      </header>
      <nav className="side" id="navigation" aria-label={t.mainNavigation}>
        <div className="side-inner">{side}</div>
      </nav>
      <main id="content" tabIndex={-1}>
        <Banner />
        {children}
      </main>
    </div>
  );
}

interface Place {
  path: string;
  icon: IconName;
  text: string;
  /** A page that is part of this one. */
  with?: string | undefined;
  /** After the text. */
  mark?: ReactNode;
}

/** Whether a path is that of a page, or below it. */
export const isAt = ({ path, with: other }: Pick<Place, 'path' | 'with'>, now: string): boolean =>
  (path === '/' ? now === '/' : now === path || now.startsWith(`${path}/`)) ||
  (other !== undefined && isAt({ path: other }, now));

/** Links to pages; the one of the page that is open is marked. */
export function PlaceList({ places, label }: { places: Place[]; label?: string }) {
  const [now] = useLocation();
  return (
    <ul aria-labelledby={label}>
      {places.map(place => (
        <li key={place.path}>
          <Link href={place.path} aria-current={isAt(place, now) ? 'page' : undefined} className="side-link">
            <Icon name={place.icon} />
            <span>{place.text}</span>
            {place.mark}
          </Link>
        </li>
      ))}
    </ul>
  );
}

interface AccountProps {
  name: string;
  role: string;
  /** What the button says when it is pointed at. */
  title: string;
  /** On the button, after the name. */
  besides?: ReactNode;
  /** The link above signing out. */
  link: [path: string, text: string];
}

/** Who is signed in, and signing out. */
export function AccountMenu({ name, role, title, besides, link: [path, text] }: AccountProps) {
  const t = useCommon();
  const menu = useRef<HTMLDivElement>(null);
  return (
    <>
      <button type="button" className="who" popoverTarget="who" title={title}>
        <Icon name="person" />
        <span className="who-name">
          {name}
          {besides}
        </span>
      </button>
      <div id="who" popover="auto" className="who-menu" ref={menu}>
        <p className="dim">
          {name} · {role}
        </p>
        <Link href={path} onClick={() => menu.current?.hidePopover()}>
          {text}
        </Link>
        <button type="button" onClick={() => void signOut()}>
          {t.signOut}
        </button>
      </div>
    </>
  );
}

interface CardProps {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
  /** Next to the preferences. */
  beside?: ReactNode;
}

/** The one card of a page that is shown to somebody who is not, or not yet, at work. */
export function SignInCard({ title, lead, children, beside }: CardProps) {
  useEffect(() => {
    document.title = `${title} · Kopeck`;
  }, [title]);
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <Banner />
        <div className="sign-in-head">
          <img src={`${appPath}/icon.svg`} alt="" width={36} height={36} />
          <div>
            <h1>{title}</h1>
            {lead && <p className="dim">{lead}</p>}
          </div>
        </div>
        {children}
        <div className="sign-in-side">
          <Preferences />
          {beside}
        </div>
      </div>
    </main>
  );
}
