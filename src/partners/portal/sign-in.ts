import { type Queryable, transaction } from '../../db/postgres/index.ts';
import type { SessionClient } from '../../db/sessions/index.ts';
import { auditContextOfPerson, type Person } from '../members.ts';
import { findPortalLink, type SignedData, takePortalLink, takeSignedData } from './links.ts';
import {
  endSession,
  lockSession,
  openSession,
  type PortalSession,
  type PortalSignIn,
  type SignInDeps,
} from './sessions.ts';

/** Where somebody arrives. */
interface Browser extends SessionClient {
  /** The token in its cookie. */
  sessionToken: string | undefined;
  /** The session that somebody agreed to replace. */
  replaces: string | undefined;
}

/**
 * `other_person`: the browser has a session of somebody else. Any site can open the portal with a link of its own, so that
 * its visitor would go on as another person without noticing, and pay to a foreign address. So people are asked first.
 */
export type PortalSignInResult =
  | ({ outcome: 'signed_in' } & PortalSignIn)
  | { outcome: 'no_link' }
  | { outcome: 'other_person'; arriving: Person; session: PortalSession; isOpen: boolean };

/** The link and the session are one transaction: a link is used only if there is a session. */
export const signInWithLink = (
  deps: SignInDeps,
  token: string,
  browser: Browser,
): Promise<PortalSignInResult> =>
  transaction(deps.pool, async tx => {
    const person = await findPortalLink(tx, deps.clock, token);
    return person ? signIn(tx, deps, person, browser, () => takePortalLink(tx, deps.clock, token)) : noLink;
  });

export const signInWithData = (
  deps: SignInDeps,
  data: SignedData,
  browser: Browser,
): Promise<PortalSignInResult> =>
  transaction(deps.pool, tx => signIn(tx, deps, data, browser, () => takeSignedData(tx, deps.clock, data)));

const noLink = { outcome: 'no_link' } as const;

/** `take` uses up what proves who arrives: not before the question is answered. */
async function signIn(
  tx: Queryable,
  deps: SignInDeps,
  arriving: Person,
  browser: Browser,
  take: () => Promise<boolean>,
): Promise<PortalSignInResult> {
  const { clock } = deps;
  // An ended session asks as well: the cookie stays in a browser whose owner was away for half an hour.
  const before = browser.sessionToken ? await lockSession(tx, clock, browser.sessionToken) : undefined;
  if (before && before.session.userId !== arriving.userId && before.session.sessionId !== browser.replaces)
    return { outcome: 'other_person', arriving, ...before };
  if (!(await take())) return noLink;
  if (before) {
    const { userId, sessionId } = before.session;
    await endSession(tx, auditContextOfPerson(deps, before.session), userId, sessionId);
  }
  return { outcome: 'signed_in', ...(await openSession(tx, deps, arriving, browser)) };
}
