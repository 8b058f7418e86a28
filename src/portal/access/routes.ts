import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { createTokenBuckets } from '../../base/token-buckets.ts';
import { networkOf } from '../../operators/index.ts';
import {
  endPortalSession,
  listPortalSessions,
  type PortalSignInResult,
  signInWithData,
  signInWithLink,
} from '../../partners/index.ts';
import { done, idOr, type Route, refuse, sessionRow, throttled } from '../../web/index.ts';
import { clearSessionCookie, readSessionToken, setSessionCookie } from '../cookie.ts';
import type { RouteDeps } from '../deps.ts';
import { findSignedIn } from '../guard.ts';
import { auditContextOf, get, post } from '../route.ts';
import { readInitData } from './init-data.ts';
import { identityOf, sessionObject } from './session-object.ts';

/** For one network. Tokens cannot be guessed: this bounds the work that unknown callers cause. */
const attemptRate = { perSec: 0.1, burst: 60 };

const replaces = Type.Optional(Type.String({ maxLength: 100 }));
const remember = Type.Optional(Type.Boolean());
const browserOf = (request: FastifyRequest<{ Body: { replaces?: string; remember?: boolean } }>) => ({
  address: request.ip,
  userAgent: request.headers['user-agent'] ?? '',
  sessionToken: readSessionToken(request),
  replaces: request.body.replaces,
  isRemembered: request.body.remember ?? false,
});

const signInRoutes: Route<RouteDeps> = (scope, deps) => {
  const takeToken = createTokenBuckets(deps.clock, attemptRate);
  const before = ({ ip }: FastifyRequest) => {
    const retryAfterSec = takeToken(networkOf(ip));
    return retryAfterSec === undefined ? undefined : throttled(retryAfterSec);
  };
  const routes = [
    post(
      '/sign-in',
      'everybody',
      { before, body: { token: Type.String({ maxLength: 100 }), replaces, remember } },
      async (request, _deps, _found, reply) => {
        const result = await signInWithLink(deps, request.body.token, browserOf(request));
        return (
          (await answerOf(deps, reply, result)) ??
          refuse(404, 'no_link', 'This link is used, replaced or expired.')
        );
      },
    ),
    post(
      '/sign-in/telegram',
      'everybody',
      { before, body: { init_data: Type.String({ maxLength: 3_500 }), replaces } },
      async (request, _deps, _found, reply) => {
        const { telegramToken, clock } = deps;
        const data = telegramToken && readInitData(telegramToken, clock, request.body.init_data);
        const result = data && (await signInWithData(deps, data, browserOf(request)));
        return (
          (result && (await answerOf(deps, reply, result))) ??
          refuse(404, 'no_link', 'The data of this Mini App is used, expired or not valid.')
        );
      },
    ),
  ];
  for (const add of routes) add(scope, deps);
};

/**
 * A session with its cookie. Instead of it, if the browser has one of another person, the question whether to replace that
 * one: the same request with `replaces` does.
 */
export async function answerOf(deps: RouteDeps, reply: FastifyReply, result: PortalSignInResult) {
  if (result.outcome === 'no_link') return undefined;
  if (result.outcome === 'signed_in') {
    setSessionCookie(reply, result.token, result.session);
    return sessionObject(deps, result.token, result.session);
  }
  const { session, isOpen, arriving } = result;
  return {
    question: 'other_person',
    session_id: session.sessionId,
    // The cookie of an ended session opens nothing, so it shows nothing either.
    signed_in: isOpen ? await identityOf(deps, session) : null,
    arriving: await identityOf(deps, arriving),
  };
}

// The first request of a page. Not signed in is a normal answer here: browsers log every 401 as an error.
export const currentSession = get('/session/current', 'everybody', {}, async (request, deps) => {
  const found = await findSignedIn(deps, request);
  return {
    session: found ? await sessionObject(deps, found.token, found.person) : null,
    bot_name: deps.telegramBotName ?? null,
    // Null: no text sends people to support.
    support_url: deps.supportUrl ?? null,
  };
});

const signOut = post('/logout', 'person', {}, async (request, deps, _found, reply) => {
  const { userId, sessionId } = request.person;
  await endPortalSession(auditContextOf(deps, request), userId, sessionId);
  clearSessionCookie(reply);
  return done;
});

const noSession = refuse(404, 'no_session', 'Session not found, or it has already ended.');
const find = idOr('ses', noSession);
export const showSessions = get('/sessions', 'person', {}, async (request, deps) => {
  const sessions = await listPortalSessions(deps.db, deps.clock, request.person.userId);
  return {
    data: sessions.map(session => ({
      ...sessionRow(session, request.person.sessionId),
      is_remembered: session.isRemembered,
    })),
    next_cursor: null,
  };
});

const endOpenSession =
  // The session of another person does not exist for them.
  post('/sessions/:id/end', 'person', { find }, async (request, deps, id) => {
    const outcome = await endPortalSession(auditContextOf(deps, request), request.person.userId, id);
    return outcome === 'ended' ? done : noSession;
  });

/** Signing in and out, and the sessions of a person. */
export const accessRoutes = [signInRoutes, currentSession, signOut, showSessions, endOpenSession];
