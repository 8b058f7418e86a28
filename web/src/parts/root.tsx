import { Alert, Button, localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  Component,
  type ComponentType,
  type ReactNode,
  Suspense,
  useEffect,
  useSyncExternalStore,
} from 'react';
import { Link, Route, Router, Switch, useLocation } from 'wouter';
import type { AnySession } from '../../../src/web/shapes.ts';
import { appPath, ask, connected, Refused, session } from '../api.ts';
import { useCommon } from '../texts/common.ts';
import { noVariables, theme } from '../theme.ts';
import { preloadPages } from './lazy-page.tsx';
import { PageFrame, Waiting } from './page.tsx';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal is final; a lost connection is retried.
      retry: (failures, error) =>
        !(error instanceof Refused && error.status > 0 && error.status < 500) && failures < 2,
      networkMode: 'always',
      staleTime: 2000,
    },
  },
});

const colours = localStorageColorSchemeManager({ key: 'kopeck-colours' });

/** What surrounds all pages of the console, and of the portal. */
export const Root = ({ children }: { children: ReactNode }) => (
  <MantineProvider
    theme={theme}
    defaultColorScheme="auto"
    colorSchemeManager={colours}
    cssVariablesResolver={noVariables}
    withCssVariables={false}
    withGlobalClasses={false}
  >
    <Notifications position="bottom-right" />
    <QueryClientProvider client={queries}>
      <Router base={appPath}>
        <ErrorBoundary>
          <Suspense fallback={<FirstLoad />}>{children}</Suspense>
        </ErrorBoundary>
      </Router>
    </QueryClientProvider>
  </MantineProvider>
);

interface Watch {
  /** Asks the server, and sets the session. */
  read?: () => Promise<unknown>;
  isOff?: boolean;
  /** Nobody signs in without this page. */
  restsSignedOut?: boolean;
}

/**
 * The session of the reader, undefined until the server has answered. Meanwhile others can change a role or end a
 * session at any time, so it is read again and again; without a connection faster.
 */
export function useCurrentSession<Session extends AnySession>(
  userOf: (now: Session) => string,
  { read = readSession, isOff = false, restsSignedOut = false }: Watch = {},
) {
  const now = useSyncExternalStore(session.subscribe, session.get) as Session | null | undefined;
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);
  const userId = now && userOf(now);
  const isKnown = now !== undefined;
  const rests = isOff || (restsSignedOut && now === null && isConnected);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `read` is asked anew only when one of these changes
  useEffect(() => {
    if (rests) return;
    const look = async () => {
      const wasLost = !connected.get();
      await read();
      if (wasLost && connected.get()) void queries.invalidateQueries();
    };
    if (!isKnown || !isConnected) void look();
    const timer = setInterval(() => void look(), isKnown && isConnected ? 60_000 : 3000);
    return () => clearInterval(timer);
  }, [isKnown, isConnected, rests]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the next person must not see cached data of the one before
  useEffect(() => () => queries.clear(), [userId]);

  useEffect(() => {
    if (!userId) return;
    // After the first page has its data.
    const timer = setTimeout(() => void preloadPages(), 1000);
    return () => clearTimeout(timer);
  }, [userId]);

  return now;
}

/** Without a connection there is no answer; the banner shows it. */
export async function readSession(): Promise<void> {
  const found = await ask<{ session: AnySession | null }>('/session/current').catch(() => undefined);
  if (found) session.set(found.session);
}

/** Before the first answer of the server. */
export function NotYetKnown() {
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);
  return isConnected ? <FirstLoad /> : <Banner />;
}

/** Says that the connection is lost, while it is. */
export function Banner() {
  const t = useCommon();
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);
  if (isConnected) return null;
  return (
    <div className="banner" role="status">
      {t.connectionLost}
    </div>
  );
}

/**
 * The page of the URL: one of these by its path, or a route among the children. A page that fails, or is still being
 * loaded, leaves the frame around it alone.
 */
export function Pages({ of, children }: { of: Record<string, ComponentType>; children: ReactNode }) {
  const [path] = useLocation();
  return (
    <ErrorBoundary key={path}>
      <Suspense fallback={<Waiting />}>
        <Switch>
          {Object.entries(of).map(([route, Page]) => (
            <Route key={route} path={route}>
              <Page />
            </Route>
          ))}
          {children}
          <Route component={NoSuchPage} />
        </Switch>
      </Suspense>
    </ErrorBoundary>
  );
}

function NoSuchPage() {
  const t = useCommon();
  return (
    <PageFrame title={t.noSuchPage}>
      <Link href="/">{t.toOverview}</Link>
    </PageFrame>
  );
}

/** Shown until the first answer of the server arrives; `index.html` has the same before the script is loaded. */
export const FirstLoad = () => (
  <div className="first-load" role="status" aria-busy="true" aria-label={useCommon().loading}>
    <div className="first-load-top" />
    <div className="first-load-lines" />
  </div>
);

/** Keeps the rest of the console alive when a page fails, or its file is gone after an update. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    return this.state.broken ? <Sorry /> : this.props.children;
  }
}

function Sorry() {
  const t = useCommon();
  return (
    <Alert color="red" role="alert" title={t.pageBroke}>
      <p>{t.pageBrokeHint}</p>
      <Button size="xs" variant="default" onClick={() => location.reload()}>
        {t.reload}
      </Button>
    </Alert>
  );
}
