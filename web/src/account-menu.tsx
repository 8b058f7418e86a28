import { useRef } from 'react';
import { Link } from 'wouter';
import { signOut } from './api.ts';
import { Icon } from './parts/icon.tsx';
import { useSession } from './parts/session.ts';
import { useShared } from './texts/index.ts';

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
