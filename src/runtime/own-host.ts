import { isIP } from 'node:net';

/**
 * Whether a Host header names this machine by its address, `localhost` or the name it listens on. Another name may be one
 * that its owner points here, so that a page in a browser can read the answer (DNS rebinding).
 */
export function isOwnHost(host: string | undefined, listensOn: string): boolean {
  if (host === undefined || !URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  const name = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(name) !== 0 || name === 'localhost' || name === listensOn.toLowerCase();
}
