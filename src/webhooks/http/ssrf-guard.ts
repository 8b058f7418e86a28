import { BlockList, isIP, isIPv4 } from 'node:net';

export type UrlCheck = { outcome: 'ok'; url: URL } | { outcome: 'refused'; reason: string };

/** Not for receivers, by IANA's registries of special-purpose addresses, multicast and reserved space included. */
const specialIPv4 = listOf('ipv4', [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by customers of a provider
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, where clouds tell machines their secrets
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // multicast tunnels
  '192.88.99.0/24', // former 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]);

/** All that is handed out as public; the rest (loopback, link-local, unique local, multicast …) lies outside. */
const unicastIPv6 = listOf('ipv6', ['2000::/3']);

const specialIPv6 = listOf('ipv6', [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which wraps any IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
]);

/** IPv4 in other clothes, mapped and NAT64: as public as the IPv4 address in the last four bytes. */
const wrappedIPv4 = listOf('ipv6', ['::ffff:0:0/96', '64:ff9b::/96']);

function listOf(family: 'ipv4' | 'ipv6', ranges: string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** True only for an address of the public internet that belongs to one machine. */
export function isPublicAddress(ip: string): boolean {
  // A zone says which cable to use: public addresses have none.
  if (isIP(ip) === 0 || ip.includes('%')) return false;
  if (isIPv4(ip)) return !specialIPv4.check(ip, 'ipv4');
  if (wrappedIPv4.check(ip, 'ipv6')) return isPublicAddress(lastFourBytes(ip));
  return unicastIPv6.check(ip, 'ipv6') && !specialIPv6.check(ip, 'ipv6');
}

/** The end of a wrapping IPv6 address in the notation of IPv4. */
function lastFourBytes(ip: string): string {
  // As a URL writes it: hex only, with the zeros of the wrapping left out; so an empty group is zeros, too.
  const shortest = new URL(`http://[${ip}]`).hostname.slice(1, -1);
  const [low = '', high = ''] = shortest.split(':').reverse();
  const groups = [high, low].map(group => Number.parseInt(group || '0', 16));
  return groups.flatMap(group => [group >> 8, group & 255]).join('.');
}

const maxLength = 2048;
const hostName =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const namesOfNobody = /\.(?:localhost|local|internal|home\.arpa|onion)$/;

const refused = (reason: string): UrlCheck => ({ outcome: 'refused', reason });

/**
 * Whether a webhook address may be saved. It says nothing about where its name leads, which may change at any time:
 * the sender looks at that whenever it connects. Reasons never quote the address, which may carry a secret.
 */
export function checkWebhookUrl(text: string, options: { allowPrivate: boolean }): UrlCheck {
  const tooLong = () => refused(`The address is too long: use at most ${maxLength} characters.`);
  if (text.length > maxLength) return tooLong();
  if (!URL.canParse(text)) {
    return refused('The address is not a URL: write it in full, like https://example.com/webhook.');
  }
  // The parser brings every notation of an IP address (decimal, octal, hex, wide digits) into the usual one.
  const url = new URL(text);
  if (url.href.length > maxLength) return tooLong();
  if (url.username !== '' || url.password !== '') {
    return refused(
      'The address carries a user name or password: remove it, and check the signature instead.',
    );
  }
  if (url.href.includes('#')) {
    return refused('The address has a fragment, which is never sent: remove the # and what follows it.');
  }
  const isLocal = options.allowPrivate && isLocalHost(url.hostname);
  if (url.protocol !== 'https:' && !(isLocal && url.protocol === 'http:')) {
    return refused('The address is not secure: use https.');
  }
  const reason = isLocal ? undefined : refuseHost(url.hostname);
  if (reason) return refused(reason);
  const port = Number(url.port || 443);
  if (port === 0 || (port !== 443 && port <= 1023 && !isLocal)) {
    return refused('The port is not allowed: use 443 or one above 1023.');
  }
  return { outcome: 'ok', url };
}

/** The IP address that a host of a URL is, or undefined for a name. */
function literalOf(host: string): string | undefined {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) ? bare : undefined;
}

function isLocalHost(host: string): boolean {
  const literal = literalOf(host);
  return literal ? !isPublicAddress(literal) : host === 'localhost';
}

function refuseHost(host: string): string | undefined {
  const literal = literalOf(host);
  if (literal) {
    return isPublicAddress(literal)
      ? undefined
      : 'The IP address is not public: use one that can be reached from the internet.';
  }
  if (host.endsWith('.')) return 'The host name ends with a dot: remove it.';
  if (host === 'localhost' || namesOfNobody.test(host) || !hostName.test(host)) {
    return 'The host is not a public name: use a domain name that can be reached from the internet.';
  }
  return undefined;
}
