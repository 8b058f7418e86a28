import type { FastifyReply, FastifyRequest } from 'fastify';

export function readCookie({ headers }: FastifyRequest, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map(pair => pair.trim());
  return pairs.find(pair => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

const attributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

/**
 * Without `maxAgeSec` it ends with the browser. Names begin with `__Host-`: browsers bind such a cookie to this host and to
 * https. They make an exception for localhost, where plain http works too.
 */
export function setCookie(
  reply: FastifyReply,
  name: `__Host-${string}`,
  value: string,
  maxAgeSec?: number,
): void {
  const end = maxAgeSec === undefined ? '' : `; Max-Age=${maxAgeSec}`;
  reply.header('Set-Cookie', `${name}=${value}; ${attributes}${end}`);
}
