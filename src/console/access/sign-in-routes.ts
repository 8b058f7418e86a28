import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { renderSVG } from 'uqr';
import { addressFullForSec, enrol, findEnrolment, signIn, toBase32, totpUrl } from '../../operators/index.ts';
import { Body, type Routes, refuse, typed } from '../../web/index.ts';
import { readDeviceToken, setSignInCookies } from '../cookie.ts';
import type { ConsoleDeps } from '../deps.ts';
import type { Enrolment } from '../shapes/access.ts';
import { sessionObject } from './session-routes.ts';

const Password = Type.String({ maxLength: 200 });
const Code = Type.String({ maxLength: 20 });
const Token = Type.String({ maxLength: 100 });
const needs = 'nothing';

/** Authenticator apps show the code in two halves. */
const withoutSpaces = (code: string) => code.replaceAll(/\s/g, '');

const visitorOf = (request: FastifyRequest) => ({
  address: request.ip,
  userAgent: request.headers['user-agent'] ?? '',
  deviceToken: readDeviceToken(request),
});

/** Signing in with name, password and code, and the first time with a setup link. */
export function accessRoutes(scope: FastifyInstance, deps: ConsoleDeps): void {
  const routes = typed(scope);
  signInRoute(routes, deps);
  setupRoutes(routes, deps);
}

function refuseThrottled(request: FastifyRequest, reply: FastifyReply, retryAfterSec: number): FastifyReply {
  reply.header('Retry-After', retryAfterSec);
  return refuse(request, reply, 429, 'throttled', 'Too many attempts: try again later.');
}

function signInRoute(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    '/login',
    {
      config: { needs },
      // Before the body is read. Whether a device is known depends on the name in the body.
      onRequest: async (request, reply) => {
        const { address, deviceToken } = visitorOf(request);
        const retryAfterSec = deviceToken === undefined ? addressFullForSec(deps, address) : undefined;
        return retryAfterSec === undefined ? undefined : refuseThrottled(request, reply, retryAfterSec);
      },
      schema: { body: Body({ name: Type.String({ maxLength: 100 }), password: Password, code: Code }) },
    },
    async (request, reply) => {
      const { name, password, code } = request.body;
      const credentials = { name, password, code: withoutSpaces(code) };
      const result = await signIn(deps, credentials, visitorOf(request));
      switch (result.outcome) {
        case 'signed_in':
          setSignInCookies(reply, result);
          return sessionObject(deps, result.token, result.signedIn);
        case 'refused':
          return refuse(request, reply, 401, 'wrong_credentials', 'Incorrect name, password or code.');
        case 'throttled':
          return refuseThrottled(request, reply, result.retryAfterSec);
      }
    },
  );
}

function setupRoutes(routes: Routes, deps: ConsoleDeps): void {
  const refuseLink = (request: FastifyRequest, reply: Parameters<typeof refuse>[1]) =>
    refuse(
      request,
      reply,
      404,
      'no_link',
      'The link was already used or replaced, or it has expired: ask for a new one.',
    );

  routes.post(
    '/setup/look',
    { config: { needs }, schema: { body: Body({ token: Token }) } },
    async (request, reply) => {
      const found = await findEnrolment(deps, request.body.token);
      if (!found) return refuseLink(request, reply);
      const { name, role, totpSecret, expiresAt } = found;
      const url = totpUrl(totpSecret, name);
      const enrolment: Enrolment = {
        name,
        role,
        totp_secret: toBase32(totpSecret),
        totp_url: url,
        totp_svg: renderSVG(url),
        expires_at: expiresAt.toISOString(),
      };
      return enrolment;
    },
  );

  routes.post(
    '/setup',
    { config: { needs }, schema: { body: Body({ token: Token, password: Password, code: Code }) } },
    async (request, reply) => {
      const { token, password, code } = request.body;
      const wanted = { token, password, code: withoutSpaces(code) };
      const result = await enrol(deps, wanted, visitorOf(request));
      switch (result.outcome) {
        case 'signed_in':
          setSignInCookies(reply, result);
          return sessionObject(deps, result.token, result.signedIn);
        case 'no_link':
          return refuseLink(request, reply);
        case 'weak_password':
          return refuse(request, reply, 400, 'weak_password', result.objection);
        case 'wrong_code':
          return refuse(
            request,
            reply,
            400,
            'wrong_code',
            'Incorrect code: enter the one that your authenticator app shows now.',
          );
      }
    },
  );
}
