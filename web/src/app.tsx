import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Suspense, useEffect, useSyncExternalStore } from 'react';
import { Link, Route, Router, Switch, useLocation } from 'wouter';
import type { Entrance } from '../../src/console/shapes/access.ts';
import { ask, connected, Refused, session } from './api.ts';
import { Broken } from './broken.tsx';
import { Layout } from './layout.tsx';
import { later, loadTheRest } from './parts/later.tsx';
import { PageFrame } from './parts/page.tsx';
import { Waiting } from './parts/table.tsx';
import { useShared } from './texts/index.ts';
import { noVariables, theme } from './theme.ts';

const Audit = later(() => import('./pages/audit.tsx'));
const Ledger = later(() => import('./pages/ledger.tsx'));
const Overview = later(() => import('./pages/overview.tsx'));
const Partners = later(() => import('./pages/partners.tsx'));
const Payment = later(() => import('./pages/payment.tsx'));
const Payments = later(() => import('./pages/payments.tsx'));
const Rates = later(() => import('./pages/rates.tsx'));
const Recipients = later(() => import('./pages/recipients.tsx'));
const Reconciliation = later(() => import('./pages/reconciliation.tsx'));
const Requests = later(() => import('./pages/requests.tsx'));
const Review = later(() => import('./pages/review.tsx'));
const Settings = later(() => import('./pages/settings.tsx'));
const Setup = later(() => import('./pages/setup.tsx'));
const SignIn = later(() => import('./pages/sign-in.tsx'));

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // What the server has refused it will refuse again; what could not be heard may be heard later.
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
          <Suspense fallback={null}>
            <Doors />
          </Suspense>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** Setting up needs no session. Everything else does; the address stays, so one returns to where one was. */
function Doors() {
  const [path] = useLocation();
  const now = useSyncExternalStore(session.subscribe, session.get);
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);
  const operatorId = now?.operator.operator_id;
  const isSettingUp = path === '/setup';

  const isKnown = now !== undefined;
  const isSignedOut = now === null;
  useEffect(() => {
    if (isSettingUp || (isSignedOut && isConnected)) return;
    const look = async () => {
      const wasLost = !connected.get();
      // Without a connection there is no answer, and everybody has been told.
      const found = await ask<Entrance>('/entrance').catch(() => undefined);
      if (found) session.set(found.session);
      if (wasLost && connected.get()) void queries.invalidateQueries();
    };
    if (!isKnown || !isConnected) void look();
    // A role may be changed and a session ended by others at any time; without a connection it is tried often.
    const timer = setInterval(() => void look(), isKnown && isConnected ? 60_000 : 3000);
    return () => clearInterval(timer);
  }, [isKnown, isSignedOut, isConnected, isSettingUp]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what one operator has read is not for the next
  useEffect(() => () => queries.clear(), [operatorId]);

  useEffect(() => {
    if (!operatorId) return;
    // When the first page has what it needs.
    const timer = setTimeout(() => void loadTheRest(), 1000);
    return () => clearTimeout(timer);
  }, [operatorId]);

  if (isSettingUp) return <Setup />;
  if (now === undefined) return isConnected ? null : <Lost />;
  if (now === null) return <SignIn />;
  return (
    <Layout>
      <Broken key={path}>
        <Suspense fallback={<Waiting />}>
          <Pages />
        </Suspense>
      </Broken>
    </Layout>
  );
}

const Lost = () => (
  <div className="banner" role="status">
    {useShared().connectionLost}
  </div>
);

/** A page with further addresses of its own (one partner, one run) takes them with a star. */
function Pages() {
  return (
    <Switch>
      <Route path="/" component={Overview} />
      <Route path="/payments" component={Payments} />
      <Route path="/payments/:id">{({ id }) => <Payment key={id} paymentId={id} />}</Route>
      <Route path="/review" component={Review} />
      <Route path="/requests" component={Requests} />
      <Route path="/partners/*?" component={Partners} />
      <Route path="/ledger/*?" component={Ledger} />
      <Route path="/rates" component={Rates} />
      <Route path="/recipients" component={Recipients} />
      <Route path="/reconciliation/*?" component={Reconciliation} />
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
