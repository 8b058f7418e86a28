import { Link, useLocation } from 'wouter';

/** Tabs, each with its own URL. */
export function Tabs({ label, tabs }: { label: string; tabs: [path: string, text: string][] }) {
  const [path] = useLocation();
  return (
    <nav className="choice tabs" aria-label={label}>
      {tabs.map(([to, text]) => (
        <Link key={to} href={to} aria-current={path === to ? 'page' : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}
