import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleDeps } from './deps.ts';

/** The prefix makes browsers keep it to this host and to https; over plain http, on a desk, they would not take it. */
const cookieName = ({ production }: Pick<ConsoleDeps, 'production'>) =>
  production ? '__Host-kopeck' : 'kopeck';

export function readSessionToken(deps: ConsoleDeps, { headers }: FastifyRequest): string | undefined {
  const start = `${cookieName(deps)}=`;
  const pairs = (headers.cookie ?? '').split(';').map(pair => pair.trim());
  return pairs.find(pair => pair.startsWith(start))?.slice(start.length);
}

const attributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

export const giveSessionToken = (deps: ConsoleDeps, reply: FastifyReply, token: string) =>
  reply.header('Set-Cookie', `${cookieName(deps)}=${token}; ${attributes}`);

export const takeSessionToken = (deps: ConsoleDeps, reply: FastifyReply) =>
  reply.header('Set-Cookie', `${cookieName(deps)}=; ${attributes}; Max-Age=0`);
