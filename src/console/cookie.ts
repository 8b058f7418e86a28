import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * With the `__Host-` prefix browsers bind a cookie to this host and to https. They make an exception for localhost,
 * where plain http works too.
 */
const session = '__Host-kopeck';
const device = '__Host-kopeck-device';
const deviceMaxAgeSec = 90 * 86_400;

function readCookie({ headers }: FastifyRequest, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map(pair => pair.trim());
  return pairs.find(pair => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

export const readSessionToken = (request: FastifyRequest) => readCookie(request, session);

/** From an earlier sign-in with this browser. */
export const readDeviceToken = (request: FastifyRequest) => readCookie(request, device);

const attributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

/** The session ends with the browser; the device stays known after it. */
export function setSignInCookies(
  reply: FastifyReply,
  { token, deviceToken }: { token: string; deviceToken: string },
): void {
  reply.header('Set-Cookie', `${session}=${token}; ${attributes}`);
  reply.header('Set-Cookie', `${device}=${deviceToken}; ${attributes}; Max-Age=${deviceMaxAgeSec}`);
}

export const clearSessionCookie = (reply: FastifyReply) =>
  reply.header('Set-Cookie', `${session}=; ${attributes}; Max-Age=0`);
