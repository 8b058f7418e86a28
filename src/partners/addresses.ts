import { BlockList, isIP } from 'node:net';

const family = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** An IPv4 or IPv6 address or CIDR range; undefined for anything else. */
function parseRange(text: string): { address: string; prefix: number } | undefined {
  const [address = '', prefixText, ...rest] = text.split('/');
  if (rest.length > 0 || isIP(address) === 0 || address.includes('%')) return undefined;
  const bits = isIP(address) === 4 ? 32 : 128;
  if (prefixText === undefined) return { address, prefix: bits };
  const prefix = Number(prefixText);
  return /^\d{1,3}$/.test(prefixText) && prefix <= bits ? { address, prefix } : undefined;
}

export const isAddressRange = (text: string) => parseRange(text) !== undefined;

/** The IP allow-list of a key; an empty list allows every address. IPv4-mapped IPv6 (`::ffff:192.0.2.1`) counts as IPv4. */
export function isAddressAllowed(ranges: string[], address: string): boolean {
  if (ranges.length === 0) return true;
  const [bare = ''] = address.split('%');
  if (isIP(bare) === 0) return false;
  const allowed = new BlockList();
  for (const range of ranges.map(parseRange)) {
    if (range) allowed.addSubnet(range.address, range.prefix, family(range.address));
  }
  return allowed.check(bare, family(bare));
}

/**
 * Whether a list allows no address that the other one does not. Each of its ranges is within one of the other's: ranges that are
 * only together as wide count as wider.
 */
export function isNarrower(ranges: string[], than: string[]): boolean {
  if (than.length === 0) return true;
  return ranges.length > 0 && ranges.every(range => than.some(wider => isWithin(range, wider)));
}

function isWithin(text: string, widerText: string): boolean {
  const [range, wider] = [parseRange(text), parseRange(widerText)];
  if (!range || !wider || family(range.address) !== family(wider.address)) return false;
  const allowed = new BlockList();
  allowed.addSubnet(wider.address, wider.prefix, family(wider.address));
  return range.prefix >= wider.prefix && allowed.check(range.address, family(range.address));
}
