import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Suspense, useEffect, useSyncExternalStore } from 'react';
import { Link, Route, Router, Switch, useLocation } from 'wouter';
import type { CurrentSession, Session } from '../../src/console/shapes/access.ts';
import { ask, connected, Refused, session } from './api.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { Layout } from './layout.tsx';
import { FirstLoad } from './parts/first-load.tsx';
import { lazyPage, preloadPages } from './parts/lazy-page.tsx';
import { PageFrame } from './parts/page.tsx';
import { Waiting } from './parts/table.tsx';
import { useShared } from './texts/index.ts';
import { noVariables, theme } from './theme.ts';

const Audit = lazyPage(() => import('./pages/audit.tsx'));
const Deliveries = lazyPage(() => import('./pages/deliveries.tsx'));
const Deposits = lazyPage(() => import('./pages/deposits.tsx'));
const Ledger = lazyPage(() => import('./pages/ledger.tsx'));
const Overview = lazyPage(() => import('./pages/overview.tsx'));
const Partners = lazyPage(() => import('./pages/partners.tsx'));
const Payment = lazyPage(() => import('./pages/payment.tsx'));
const Payments = lazyPage(() => import('./pages/payments.tsx'));
const Rates = lazyPage(() => import('./pages/rates.tsx'));
const Recipients = lazyPage(() => import('./pages/recipients.tsx'));
const Reconciliation = lazyPage(() => import('./pages/reconciliation.tsx'));
const RequestLog = lazyPage(() => import('./pages/request-log.tsx'));
const Requests = lazyPage(() => import('./pages/requests.tsx'));
const Review = lazyPage(() => import('./pages/review.tsx'));
const Settings = lazyPage(() => import('./pages/settings.tsx'));
const Setup = lazyPage(() => import('./pages/setup.tsx'));
const SignIn = lazyPage(() => import('./pages/sign-in.tsx'));

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

export function App() {
  return (
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
        <Router base="/console">
          <ErrorBoundary>
            <Suspense fallback={<FirstLoad />}>
              <SignedInOrNot />
            </Suspense>
          </ErrorBoundary>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** Only the setup page works without a session. The URL is kept, so signing in returns to the same page. */
function SignedInOrNot() {
  const [path] = useLocation();
  const now = useSyncExternalStore(session.subscribe, session.get) as Session | null | undefined;
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);
  const operatorId = now?.operator.operator_id;
  const isSettingUp = path === '/setup';

  const isKnown = now !== undefined;
  const isSignedOut = now === null;
  useEffect(() => {
    if (isSettingUp || (isSignedOut && isConnected)) return;
    const look = async () => {
      const wasLost = !connected.get();
      // Without a connection there is no answer; the banner shows it.
      const found = await ask<CurrentSession>('/session/current').catch(() => undefined);
      if (found) session.set(found.session);
      if (wasLost && connected.get()) void queries.invalidateQueries();
    };
    if (!isKnown || !isConnected) void look();
    // Admins can change a role or end a session at any time. Without a connection it polls faster.
    const timer = setInterval(() => void look(), isKnown && isConnected ? 60_000 : 3000);
    return () => clearInterval(timer);
  }, [isKnown, isSignedOut, isConnected, isSettingUp]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the next operator must not see cached data of the one before
  useEffect(() => () => queries.clear(), [operatorId]);

  useEffect(() => {
    if (!operatorId) return;
    // After the first page has its data.
    const timer = setTimeout(() => void preloadPages(), 1000);
    return () => clearTimeout(timer);
  }, [operatorId]);

  if (isSettingUp) return <Setup />;
  if (now === undefined) return isConnected ? <FirstLoad /> : <Lost />;
  if (now === null) return <SignIn />;
  return (
    <Layout>
      <ErrorBoundary key={path}>
        <Suspense fallback={<Waiting />}>
          <Pages />
        </Suspense>
      </ErrorBoundary>
    </Layout>
  );
}

const Lost = () => (
  <div className="banner" role="status">
    {useShared().connectionLost}
  </div>
);

/** A page with sub-pages (one partner, one run) has a wildcard route. */
function Pages() {
  return (
    <Switch>
      <Route path="/" component={Overview} />
      <Route path="/payments" component={Payments} />
      <Route path="/payments/:id">{({ id }) => <Payment key={id} paymentId={id} />}</Route>
      <Route path="/review" component={Review} />
      <Route path="/requests" component={Requests} />
      <Route path="/deliveries/*?" component={Deliveries} />
      <Route path="/partners/*?" component={Partners} />
      <Route path="/deposits" component={Deposits} />
      <Route path="/ledger/*?" component={Ledger} />
      <Route path="/rates" component={Rates} />
      <Route path="/recipients" component={Recipients} />
      <Route path="/reconciliation/*?" component={Reconciliation} />
      <Route path="/request-log" component={RequestLog} />
      <Route path="/audit" component={Audit} />
      <Route path="/settings/*?" component={Settings} />
      <Route component={NoSuchPage} />
    </Switch>
  );
}

function NoSuchPage() {
  const t = useShared();
  return (
    <PageFrame title={t.noSuchPage}>
      <Link href="/">{t.toOverview}</Link>
    </PageFrame>
  );
}
