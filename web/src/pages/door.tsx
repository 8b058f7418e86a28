import { type ReactNode, useEffect, useSyncExternalStore } from 'react';
import { connected } from '../api.ts';
import { useShared } from '../texts/index.ts';
import { Preferences } from '../who.tsx';

/** What stands around the forms of those who are not signed in. */
export function Door({ title, children }: { title: string; children: ReactNode }) {
  const t = useShared();
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);
  useEffect(() => {
    document.title = `${title} · Kopeck`;
  }, [title]);
  return (
    <main className="door">
      <div className="door-card">
        {!isConnected && (
          <div className="banner" role="status">
            {t.connectionLost}
          </div>
        )}
        <div className="door-head">
          <img src="/console/icon.svg" alt="" width={36} height={36} />
          <div>
            <h1>{title}</h1>
            <p className="dim">Kopeck · {t.console}</p>
          </div>
        </div>
        {children}
        <div className="door-side">
          <Preferences />
        </div>
      </div>
    </main>
  );
}
