import { useState } from 'react';
import { Redirect, Route, Router, useLocation } from 'wouter';
import type { CurrentSession, OtherPerson, Session, SignInAnswer } from '../../../src/portal/shapes.ts';
import { ask, session } from '../api.ts';
import { lazyPage } from '../parts/lazy-page.tsx';
import { NotYetKnown, Pages, Root, useCurrentSession } from '../parts/root.tsx';
import { ZoneContext } from '../parts/zone-context.ts';
import { hasLink, isQuestion, signInOnArrival } from './arrival.ts';
import { Layout } from './layout.tsx';
import { NoPartner } from './new-partner.tsx';
import { PartnerContext } from './partner.ts';
import { OtherPersonQuestion, SignIn, SignInWithLink } from './sign-in.tsx';
import { supportUrl } from './support.tsx';

const Delivery = lazyPage(() => import('./pages/delivery.tsx'));
const LoggedRequest = lazyPage(() => import('./pages/logged-request.tsx'));
const Payment = lazyPage(() => import('./pages/payment.tsx'));

const pages = {
  '/': lazyPage(() => import('./pages/overview.tsx')),
  '/payments': lazyPage(() => import('./pages/payments.tsx')),
  '/balance': lazyPage(() => import('./pages/balance.tsx')),
  '/statements': lazyPage(() => import('./pages/statements.tsx')),
  '/rate': lazyPage(() => import('./pages/rate.tsx')),
  '/qr': lazyPage(() => import('./pages/qr.tsx')),
  '/keys': lazyPage(() => import('./pages/keys.tsx')),
  '/webhook': lazyPage(() => import('./pages/webhook.tsx')),
  '/deliveries': lazyPage(() => import('./pages/deliveries.tsx')),
  '/requests': lazyPage(() => import('./pages/request-log.tsx')),
  '/team': lazyPage(() => import('./pages/team.tsx')),
  '/settings': lazyPage(() => import('./pages/settings.tsx')),
};

export const App = () => (
  <Root>
    <SignedInOrNot />
  </Root>
);

/** The URL is kept, so signing in returns to the same page. */
function SignedInOrNot() {
  const [botName, setBotName] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<unknown>(null);
  const [question, setQuestion] = useState<OtherPerson | null>(null);
  const [isArriving, setArriving] = useState(hasLink);
  const now = useCurrentSession<Session>(({ person }) => person.user_id, { read });

  async function read() {
    const arriving = session.get() === undefined ? signInOnArrival() : undefined;
    const arrived = await arriving?.catch(error => void setRefusal(error));
    // Without a connection there is no answer; the banner shows it.
    const found = await ask<CurrentSession>('/session/current').catch(() => undefined);
    if (!found) return;
    setBotName(found.bot_name);
    supportUrl.set(found.support_url);
    const isAsked = isQuestion(arrived);
    if (isAsked) setQuestion(arrived);
    // Signing in may have failed while a session of before is still open.
    session.set(found.session ?? (isAsked ? null : arrived) ?? null);
  }

  const onAnswer = (answer: SignInAnswer | null) => {
    setQuestion(answer && isQuestion(answer) ? answer : null);
    if (answer && !isQuestion(answer)) session.set(answer);
  };

  if (now === undefined) return <NotYetKnown />;
  if (isArriving)
    return (
      <SignInWithLink
        onAnswer={answer => {
          setArriving(false);
          onAnswer(answer);
        }}
        onRefused={error => {
          setArriving(false);
          setRefusal(error);
        }}
      />
    );
  if (question) return <OtherPersonQuestion question={question} onAnswer={onAnswer} />;
  if (now === null) return <SignIn botName={botName} refusal={refusal} />;
  return <OfPartner now={now} />;
}

/** The first part of the path names the partner, so that two tabs can show two partners. */
function OfPartner({ now }: { now: Session }) {
  const [path] = useLocation();
  const partner = now.partners.find(({ partner_id }) => path.split('/')[1] === partner_id);
  const [first] = now.partners;
  if (!first) return <NoPartner />;
  if (!partner) return <Redirect to={`/${first.partner_id}/`} replace />;
  return (
    <PartnerContext value={partner}>
      <ZoneContext value={partner.time_zone}>
        <Router base={`/${partner.partner_id}`}>
          <Layout key={partner.partner_id}>
            <Pages of={pages}>
              <Route path="/payments/:id">{({ id }) => <Payment key={id} paymentId={id} />}</Route>
              <Route path="/deliveries/:id">{({ id }) => <Delivery key={id} eventId={id} />}</Route>
              <Route path="/requests/:id">{({ id }) => <LoggedRequest key={id} requestId={id} />}</Route>
            </Pages>
          </Layout>
        </Router>
      </ZoneContext>
    </PartnerContext>
  );
}
