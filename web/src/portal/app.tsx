import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { Link, Redirect, Route, Router, Switch, useLocation } from 'wouter';
import type {
  CurrentSession,
  OtherPerson,
  Session,
  SignInAnswer,
} from '../../../src/portal/shapes/access.ts';
import { ask, connected, Refused, session } from '../api.ts';
import { ErrorBoundary } from '../error-boundary.tsx';
import { FirstLoad } from '../parts/first-load.tsx';
import { lazyPage, preloadPages } from '../parts/lazy-page.tsx';
import { PageFrame } from '../parts/page.tsx';
import { Waiting } from '../parts/table.tsx';
import { useCommon } from '../texts/common.ts';
import { noVariables, theme } from '../theme.ts';
import { isQuestion, signInOnArrival } from './arrival.ts';
import { Layout } from './layout.tsx';
import { NoPartner } from './no-partner.tsx';
import { OtherPersonQuestion } from './other-person.tsx';
import { PartnerContext } from './partner.ts';
import { SignIn } from './sign-in.tsx';

const Balance = lazyPage(() => import('./pages/balance.tsx'));
const Deliveries = lazyPage(() => import('./pages/deliveries.tsx'));
const Delivery = lazyPage(() => import('./pages/delivery.tsx'));
const Keys = lazyPage(() => import('./pages/keys.tsx'));
const Overview = lazyPage(() => import('./pages/overview.tsx'));
const Payment = lazyPage(() => import('./pages/payment.tsx'));
const Payments = lazyPage(() => import('./pages/payments.tsx'));
const Qr = lazyPage(() => import('./pages/qr.tsx'));
const RateOfPartner = lazyPage(() => import('./pages/rate.tsx'));
const RequestLog = lazyPage(() => import('./pages/request-log.tsx'));
const Settings = lazyPage(() => import('./pages/settings.tsx'));
const Statements = lazyPage(() => import('./pages/statements.tsx'));
const Team = lazyPage(() => import('./pages/team.tsx'));
const Webhook = lazyPage(() => import('./pages/webhook.tsx'));

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
        <Router base="/portal">
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

/** The URL is kept, so signing in returns to the same page. */
function SignedInOrNot() {
  const now = useSyncExternalStore(session.subscribe, session.get) as Session | null | undefined;
  const isConnected = useSyncExternalStore(connected.subscribe, connected.get);
  const [botName, setBotName] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<unknown>(null);
  const [question, setQuestion] = useState<OtherPerson | null>(null);
  const userId = now?.person.user_id;
  const isKnown = now !== undefined;

  useEffect(() => {
    const look = async () => {
      const arriving = isKnown ? undefined : signInOnArrival();
      const arrived = await arriving?.catch(error => void setRefusal(error));
      // Without a connection there is no answer; the banner shows it.
      const found = await ask<CurrentSession>('/session/current').catch(() => undefined);
      if (!found) return;
      setBotName(found.bot_name);
      const isAsked = isQuestion(arrived);
      if (isAsked) setQuestion(arrived);
      // Signing in may have failed while a session of before is still open.
      session.set(found.session ?? (isAsked ? null : arrived) ?? null);
    };
    if (!isKnown || !isConnected) void look();
    // Owners can change a role or remove a member at any time. Without a connection it polls faster.
    const timer = setInterval(() => void look(), isKnown && isConnected ? 60_000 : 3000);
    return () => clearInterval(timer);
  }, [isKnown, isConnected]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the next person must not see cached data of the one before
  useEffect(() => () => queries.clear(), [userId]);

  useEffect(() => {
    if (!userId) return;
    // After the first page has its data.
    const timer = setTimeout(() => void preloadPages(), 1000);
    return () => clearTimeout(timer);
  }, [userId]);

  const onAnswer = (answer: SignInAnswer | null) => {
    setQuestion(answer && isQuestion(answer) ? answer : null);
    if (answer && !isQuestion(answer)) session.set(answer);
  };

  if (now === undefined) return isConnected ? <FirstLoad /> : <Lost />;
  if (question) return <OtherPersonQuestion question={question} onAnswer={onAnswer} />;
  if (now === null) return <SignIn botName={botName} refusal={refusal} />;
  return <OfPartner now={now} />;
}

const Lost = () => (
  <div className="banner" role="status">
    {useCommon().connectionLost}
  </div>
);

/** The first part of the path names the partner, so that two tabs can show two partners. */
function OfPartner({ now }: { now: Session }) {
  const [path] = useLocation();
  const partner = now.partners.find(({ partner_id }) => path.split('/')[1] === partner_id);
  const [first] = now.partners;
  if (!first) return <NoPartner />;
  if (!partner) return <Redirect to={`/${first.partner_id}/`} replace />;
  return (
    <PartnerContext value={partner}>
      <Router base={`/${partner.partner_id}`}>
        <Layout key={partner.partner_id}>
          <ErrorBoundary key={path}>
            <Suspense fallback={<Waiting />}>
              <Pages />
            </Suspense>
          </ErrorBoundary>
        </Layout>
      </Router>
    </PartnerContext>
  );
}

function Pages() {
  return (
    <Switch>
      <Route path="/" component={Overview} />
      <Route path="/payments" component={Payments} />
      <Route path="/payments/:id">{({ id }) => <Payment key={id} paymentId={id} />}</Route>
      <Route path="/balance" component={Balance} />
      <Route path="/statements" component={Statements} />
      <Route path="/rate" component={RateOfPartner} />
      <Route path="/qr" component={Qr} />
      <Route path="/keys" component={Keys} />
      <Route path="/webhook" component={Webhook} />
      <Route path="/deliveries" component={Deliveries} />
      <Route path="/deliveries/:id">{({ id }) => <Delivery key={id} eventId={id} />}</Route>
      <Route path="/requests" component={RequestLog} />
      <Route path="/team" component={Team} />
      <Route path="/settings" component={Settings} />
      <Route component={NoSuchPage} />
    </Switch>
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
