import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { type Answer, refusal } from './answer.ts';

/**
 * A web page in a developer's browser reaches the simulator too. A name that its owner points at this machine (DNS
 * rebinding) would make the page read answers, and a request across origins would make payments and faults.
 */
export function refuseForeign(request: IncomingMessage, listensOn: string): Answer | undefined {
  const { host = [] } = request.headersDistinct;
  if (host.length !== 1 || !isOwnHost(host[0]!, listensOn))
    return refusal(403, 'FOREIGN_HOST', 'Use the address of the simulator, or localhost, as the host.');
  if (isFromOtherOrigin(request, host[0]!) && !isNavigation(request))
    return refusal(403, 'FOREIGN_ORIGIN', 'Pages of another origin cannot use the simulator.');
  return undefined;
}

/** Nobody can point an IP address or `localhost` somewhere else. */
function isOwnHost(host: string, listensOn: string): boolean {
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  const name = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(name) !== 0 || name === 'localhost' || name === listensOn.toLowerCase();
}

/** Browsers set both headers themselves; programs send neither. */
function isFromOtherOrigin({ headers }: IncomingMessage, host: string): boolean {
  const { origin, 'sec-fetch-site': site = 'none' } = headers;
  if (site !== 'same-origin' && site !== 'none') return true;
  return origin !== undefined && origin !== `http://${host}`;
}

/** Opening the page from a link elsewhere changes nothing. */
const isNavigation = ({ method, headers }: IncomingMessage) =>
  method === 'GET' && headers['sec-fetch-mode'] === 'navigate';
