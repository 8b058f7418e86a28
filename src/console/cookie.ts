import type { FastifyReply, FastifyRequest } from 'fastify';
import { readCookie, setCookie } from '../web/index.ts';

const session = '__Host-kopeck';
const device = '__Host-kopeck-device';
const deviceMaxAgeSec = 90 * 86_400;

export const readSessionToken = (request: FastifyRequest) => readCookie(request, session);

/** From an earlier sign-in with this browser. */
export const readDeviceToken = (request: FastifyRequest) => readCookie(request, device);

/** The session ends with the browser; the device stays known after it. */
export function setSignInCookies(
  reply: FastifyReply,
  { token, deviceToken }: { token: string; deviceToken: string },
): void {
  setCookie(reply, session, token);
  setCookie(reply, device, deviceToken, deviceMaxAgeSec);
}

export const clearSessionCookie = (reply: FastifyReply) => setCookie(reply, session, '', 0);
