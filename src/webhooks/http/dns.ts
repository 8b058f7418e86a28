import { promises as dns, type LookupAddress } from 'node:dns';
import { isPublicAddress } from './ssrf-guard.ts';

export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

/** As this machine would: with its hosts file and its own names, for local work. */
export const lookUpLocally: Lookup = hostname => dns.lookup(hostname, { all: true });

/**
 * Asks the name servers over sockets of its own. The machine's own way uses a few threads that all lookups share: two
 * receivers whose name servers are silent would hold up the names of all others.
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
 * Whether a name is known to lead inside by now. A name without an address is not held against it: whoever saves it may
 * be about to make one, and every connection is checked again.
 */
export async function hasPrivateAddress(hostname: string, lookup: Lookup): Promise<boolean> {
  const addresses = await lookup(hostname).catch(() => []);
  return !addresses.every(({ address }) => isPublicAddress(address));
}
