import { Route, useLocation } from 'wouter';
import type { Session } from '../../src/console/shapes.ts';
import { Layout } from './layout.tsx';
import { lazyPage } from './parts/lazy-page.tsx';
import { NotYetKnown, Pages, Root, useCurrentSession } from './parts/root.tsx';

const Payment = lazyPage(() => import('./pages/payment.tsx'));
const Setup = lazyPage(() => import('./pages/setup.tsx'));
const SignIn = lazyPage(() => import('./pages/sign-in.tsx'));

/** A page with sub-pages (one partner, one run) has a wildcard route. */
const pages = {
  '/': lazyPage(() => import('./pages/overview.tsx')),
  '/payments': lazyPage(() => import('./pages/payments.tsx')),
  '/review': lazyPage(() => import('./pages/review.tsx')),
  '/requests': lazyPage(() => import('./pages/requests.tsx')),
  '/deliveries/*?': lazyPage(() => import('./pages/deliveries.tsx')),
  '/alarms': lazyPage(() => import('./pages/alarms.tsx')),
  '/partners/*?': lazyPage(() => import('./pages/partners.tsx')),
  '/deposits': lazyPage(() => import('./pages/deposits.tsx')),
  '/ledger/*?': lazyPage(() => import('./pages/ledger.tsx')),
  '/rates': lazyPage(() => import('./pages/rates.tsx')),
  '/recipients': lazyPage(() => import('./pages/recipients.tsx')),
  '/reconciliation/*?': lazyPage(() => import('./pages/reconciliation.tsx')),
  '/request-log': lazyPage(() => import('./pages/request-log.tsx')),
  '/audit': lazyPage(() => import('./pages/audit.tsx')),
  '/settings/*?': lazyPage(() => import('./pages/settings.tsx')),
};

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
      <Pages of={pages}>
        <Route path="/payments/:id">{({ id }) => <Payment key={id} paymentId={id} />}</Route>
      </Pages>
    </Layout>
  );
}
