import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * With the `__Host-` prefix browsers bind the cookie to this host and to https. They make an exception for localhost,
 * where plain http works too.
 */
const cookieName = '__Host-kopeck';
const start = `${cookieName}=`;

export function readSessionToken({ headers }: FastifyRequest): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map(pair => pair.trim());
  return pairs.find(pair => pair.startsWith(start))?.slice(start.length);
}

const attributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

export const setSessionCookie = (reply: FastifyReply, token: string) =>
  reply.header('Set-Cookie', `${start}${token}; ${attributes}`);

export const clearSessionCookie = (reply: FastifyReply) =>
  reply.header('Set-Cookie', `${start}; ${attributes}; Max-Age=0`);
