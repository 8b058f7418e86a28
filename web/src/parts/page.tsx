import { type ReactNode, useEffect } from 'react';

interface PageProps {
  title: string;
  /** Next to the title. */
  badge?: ReactNode;
  /** A line under the title. */
  lead?: ReactNode;
  /** The actions of the page. */
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame of a page: its title, its actions, its content. */
export function PageFrame({ title, badge, lead, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Kopeck`;
  }, [title]);
  return (
    <>
      <header className="page-head">
        <div>
          <div className="page-title">
            <h1>{title}</h1>
            {badge}
          </div>
          {lead && <p className="dim">{lead}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A section of a page with its own title. */
export function Card({ title, side, children }: { title?: string; side?: ReactNode; children: ReactNode }) {
  return (
    <section className="card">
      {title && (
        <div className="between card-head">
          <h2>{title}</h2>
          {side}
        </div>
      )}
      {children}
    </section>
  );
}

/** Names and their values. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
