import { promises as dns, type LookupAddress } from 'node:dns';
import { checkWebhookUrl, isPublicAddress } from './ssrf-guard.ts';

export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

/** With the hosts file and local names of this machine; for development. */
export const lookUpLocally: Lookup = hostname => dns.lookup(hostname, { all: true });

/**
 * Asks the name servers over its own sockets. `dns.lookup` would use libuv's few threads, which all lookups share: two
 * receivers with silent name servers would delay everybody else.
 */
export function createNameLookup(servers?: string[]): Lookup {
  const resolver = new dns.Resolver({ timeout: 3_000, tries: 2 });
  if (servers) resolver.setServers(servers);
  return async hostname => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [
      ...addressesOf(v4).map(address => ({ address, family: 4 })),
      ...addressesOf(v6).map(address => ({ address, family: 6 })),
    ];
    if (found.length === 0) throw new Error(`${hostname} has no address`);
    return found;
  };
}

const addressesOf = (answer: PromiseSettledResult<string[]>) =>
  answer.status === 'fulfilled' ? answer.value : [];

/**
 * SSRF guard when a URL is saved: whether its name has a private address now. A name without an address passes, since
 * it may get one later and every connection is checked again.
 */
export async function hasPrivateAddress(hostname: string, lookup: Lookup): Promise<boolean> {
  const addresses = await lookup(hostname).catch(() => []);
  return !addresses.every(({ address }) => isPublicAddress(address));
}

/**
 * The address to store of what somebody typed; undefined if it is not public. The guard against private addresses applies again
 * when events are sent.
 */
export async function readWebhookAddress(text: string, allowPrivate: boolean): Promise<string | undefined> {
  const verdict = checkWebhookUrl(text.trim(), { allowPrivate });
  if (verdict.outcome !== 'ok') return undefined;
  const isPrivate = !allowPrivate && (await hasPrivateAddress(verdict.url.hostname, createNameLookup()));
  return isPrivate ? undefined : verdict.url.href;
}
