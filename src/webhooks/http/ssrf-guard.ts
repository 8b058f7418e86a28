import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The SSRF guard. Partners choose the addresses that this service sends to, so it connects to public unicast addresses
 * only. An address is checked when it is saved (`checkWebhookUrl`, and `hasPrivateAddress` in dns.ts), when its name is
 * looked up for a connection, and on the open socket (connect.ts).
 */

export type UrlCheck = { outcome: 'ok'; url: URL } | { outcome: 'refused'; reason: string };

/**
 * IANA's registries of special-purpose addresses, plus multicast and reserved space, and public addresses that lead to a service of
 * the cloud itself for machines in it. Listed here and not taken from
 * `range()` of ipaddr.js, whose names follow its releases: an update must not open a range.
 */
const specialIPv4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, with the metadata services of clouds
  '168.63.129.16/32', // Azure: its wire server and DNS
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT, multicast tunnels
  '192.88.99.0/24', // former 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '199.36.153.4/30', // Google Cloud: its APIs, inside a network of a customer
  '199.36.153.8/30', // the same
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
].map(range => ipaddr.IPv4.parseCIDR(range));

/** The global unicast space; loopback, link-local, unique local, multicast and the rest lie outside. */
const unicastIPv6 = ipaddr.IPv6.parseCIDR('2000::/3');

const specialIPv6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which carries any IPv4 address
  '2600:2d00:2:1000::/56', // Google Cloud: its APIs, inside a network of a customer
  '2600:2d00:2:2000::/56', // the same
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map(range => ipaddr.IPv6.parseCIDR(range));

/** IPv4-mapped and NAT64 addresses: as public as the IPv4 address in their last four bytes. */
const embeddedIPv4 = ['::ffff:0:0/96', '64:ff9b::/96'].map(range => ipaddr.IPv6.parseCIDR(range));

/** True only for an address of the public internet that belongs to one machine. */
export function isPublicAddress(ip: string): boolean {
  // Node's check first: ipaddr.js also takes 127.1, 0x7f.0.0.1 and plain numbers. A zone id (%eth0) names an interface
  // of this machine, so no public address has one.
  const family = isIP(ip);
  if (family === 0 || ip.includes('%')) return false;
  return family === 4 ? isPublicIPv4(ipaddr.IPv4.parse(ip)) : isPublicIPv6(ipaddr.IPv6.parse(inHex(ip)));
}

/** ipaddr.js reads ::8.8.8.8 as ::ffff:8.8.8.8, which is another address; a URL writes both in hex digits. */
const inHex = (ipv6: string) => new URL(`http://[${ipv6}]`).hostname.slice(1, -1);

const isPublicIPv4 = (address: ipaddr.IPv4) => !specialIPv4.some(range => address.match(range));

function isPublicIPv6(address: ipaddr.IPv6): boolean {
  if (embeddedIPv4.some(range => address.match(range))) {
    return isPublicIPv4(new ipaddr.IPv4(address.toByteArray().slice(-4)));
  }
  return address.match(unicastIPv6) && !specialIPv6.some(range => address.match(range));
}

const maxLength = 2048;
const hostName =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const localOnlyNames = /\.(?:localhost|local|internal|home\.arpa|onion)$/;

const refused = (reason: string): UrlCheck => ({ outcome: 'refused', reason });

/**
 * Whether a webhook URL may be saved. The addresses of its host name are not part of this check: they can change at any
 * time, so the sender checks them on every connection. Reasons never quote the URL, which may carry a secret.
 */
export function checkWebhookUrl(text: string, { allowPrivate }: { allowPrivate: boolean }): UrlCheck {
  const tooLong = () => refused(`The URL is too long: use at most ${maxLength} characters.`);
  if (text.length > maxLength) return tooLong();
  if (!URL.canParse(text)) {
    return refused('This is not a valid URL: write it in full, such as https://example.com/webhook.');
  }
  // The parser normalises every notation of an IP address: decimal, octal, hex, full-width digits.
  const url = new URL(text);
  if (url.href.length > maxLength) return tooLong();
  if (url.username !== '' || url.password !== '') {
    return refused('The URL contains a user name or password: remove it, and verify the signature instead.');
  }
  if (url.href.includes('#')) {
    return refused('The URL has a fragment, which is never sent: remove the # and everything after it.');
  }
  const isLocal = allowPrivate && isLocalHost(url.hostname);
  if (url.protocol !== 'https:' && !(isLocal && url.protocol === 'http:')) {
    return refused('The URL is not secure: use https.');
  }
  const reason = isLocal ? undefined : refuseHost(url.hostname);
  if (reason) return refused(reason);
  const port = Number(url.port || 443);
  if (port === 0 || (port !== 443 && port <= 1023 && !isLocal)) {
    return refused('The port is not allowed: use 443 or one above 1023.');
  }
  return { outcome: 'ok', url };
}

/** The host of a URL if it is an IP address; undefined for a name. */
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
  if (host === 'localhost' || localOnlyNames.test(host) || !hostName.test(host)) {
    return 'The host is not a public name: use a domain name that can be reached from the internet.';
  }
  return undefined;
}
