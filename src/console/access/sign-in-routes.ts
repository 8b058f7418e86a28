import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { renderSVG } from 'uqr';
import { addressFullForSec, enrol, findEnrolment, signIn, toBase32, totpUrl } from '../../operators/index.ts';
import { refuse, throttled } from '../../web/index.ts';
import { readDeviceToken, setSignInCookies } from '../cookie.ts';
import { post } from '../route.ts';
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

const refuseThrottled = (retryAfterSec: number) =>
  throttled(retryAfterSec, 'Too many attempts: try again later.');

const signInRoute = post(
  '/login',
  needs,
  {
    // Whether a device is known depends on the name in the body.
    before: (request, deps) => {
      const { address, deviceToken } = visitorOf(request);
      const retryAfterSec = deviceToken === undefined ? addressFullForSec(deps, address) : undefined;
      return retryAfterSec === undefined ? undefined : refuseThrottled(retryAfterSec);
    },
    body: { name: Type.String({ maxLength: 100 }), password: Password, code: Code },
  },
  async (request, deps, _found, reply) => {
    const { name, password, code } = request.body;
    const credentials = { name, password, code: withoutSpaces(code) };
    const result = await signIn(deps, credentials, visitorOf(request));
    switch (result.outcome) {
      case 'signed_in':
        setSignInCookies(reply, result);
        return sessionObject(deps, result.token, result.signedIn);
      case 'refused':
        return refuse(401, 'wrong_credentials', 'Incorrect name, password or code.');
      case 'throttled':
        return refuseThrottled(result.retryAfterSec);
    }
  },
);

const refuseLink = refuse(
  404,
  'no_link',
  'The link was already used or replaced, or it has expired: ask for a new one.',
);
/** What an invited operator sees before choosing a password. */
export const lookAtSetup = post('/setup/look', needs, { body: { token: Token } }, async (request, deps) => {
  const found = await findEnrolment(deps, request.body.token);
  if (!found) return refuseLink;
  const { name, role, totpSecret, expiresAt } = found;
  const url = totpUrl(totpSecret, name);
  return {
    name,
    role,
    totp_secret: toBase32(totpSecret),
    totp_url: url,
    totp_svg: renderSVG(url),
    expires_at: expiresAt.toISOString(),
  };
});

const setup = post(
  '/setup',
  needs,
  { body: { token: Token, password: Password, code: Code } },
  async (request, deps, _found, reply) => {
    const { token, password, code } = request.body;
    const wanted = { token, password, code: withoutSpaces(code) };
    const result = await enrol(deps, wanted, visitorOf(request));
    switch (result.outcome) {
      case 'signed_in':
        setSignInCookies(reply, result);
        return sessionObject(deps, result.token, result.signedIn);
      case 'no_link':
        return refuseLink;
      case 'weak_password':
        return refuse(400, 'weak_password', result.objection);
      case 'wrong_code':
        return refuse(
          400,
          'wrong_code',
          'Incorrect code: enter the one that your authenticator app shows now.',
        );
    }
  },
);

/** Signing in with name, password and code, and the first time with a setup link. */
export const accessRoutes = [signInRoute, lookAtSetup, setup];
