import { Route, Switch, useLocation } from 'wouter';
import type { Session } from '../../src/console/shapes/access.ts';
import { Layout } from './layout.tsx';
import { lazyPage } from './parts/lazy-page.tsx';
import { NoSuchPage, NotYetKnown, PageArea, Root, useCurrentSession } from './parts/root.tsx';

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

export const App = () => (
  <Root>
    <SignedInOrNot />
  </Root>
);

/** Only the setup page works without a session. The URL is kept, so signing in returns to the same page. */
function SignedInOrNot() {
  const [path] = useLocation();
  const isSettingUp = path === '/setup';
  const now = useCurrentSession<Session>(({ operator }) => operator.operator_id, {
    isOff: isSettingUp,
    restsSignedOut: true,
  });
  if (isSettingUp) return <Setup />;
  if (now === undefined) return <NotYetKnown />;
  if (now === null) return <SignIn />;
  return (
    <Layout>
      <PageArea>
        <Pages />
      </PageArea>
    </Layout>
  );
}

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
