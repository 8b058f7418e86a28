import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * The prefix makes browsers keep it to this host, and to https; on this machine itself, where nobody listens in, they
 * take it over plain http as well.
 */
const cookieName = '__Host-kopeck';
const start = `${cookieName}=`;

export function readSessionToken({ headers }: FastifyRequest): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map(pair => pair.trim());
  return pairs.find(pair => pair.startsWith(start))?.slice(start.length);
}

const attributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

export const giveSessionToken = (reply: FastifyReply, token: string) =>
  reply.header('Set-Cookie', `${start}${token}; ${attributes}`);

export const takeSessionToken = (reply: FastifyReply) =>
  reply.header('Set-Cookie', `${start}; ${attributes}; Max-Age=0`);
