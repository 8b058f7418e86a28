import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Keyring, SecretKey } from '../db/secrets/index.ts';

/** Each has sessions of its own: the token of one is worth nothing to the other. */
export type WebApp = 'console' | 'portal';

/** The CSRF token of a session: only our pages get it, since it is derived from a cookie that scripts cannot read. */
export const csrfTokenOf = (key: SecretKey, app: WebApp, sessionToken: string) =>
  createHmac('sha256', key.derive(`${app} csrf`))
    .update(sessionToken)
    .digest('base64url');

/** A page keeps its token while the secret key is replaced. */
export const isCsrfToken = ({ keys }: Keyring, app: WebApp, sent: string, sessionToken: string) =>
  keys.some(key => isSame(sent, csrfTokenOf(key, app, sessionToken)));

/** Browsers set `Origin` and `Sec-Fetch-Site` themselves; no script can change them. */
export function isFromOurPage(
  { publicUrl }: { publicUrl: string | undefined },
  { headers, host }: FastifyRequest,
): boolean {
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (!origin || !URL.canParse(origin)) return false;
  return new URL(origin).host === host || (publicUrl !== undefined && new URL(publicUrl).origin === origin);
}

/** In constant time, also for texts of different lengths. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
