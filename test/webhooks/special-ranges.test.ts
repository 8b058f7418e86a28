import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPublicAddress } from '../../src/webhooks/http/ssrf-guard.ts';

interface Range {
  first: string;
  last: string;
  /** The public addresses right before and after it; none where it borders on another special range. */
  outside: string[];
}

/** The first and the last address of every special-purpose range of IPv4, as IANA registers them. */
const ipv4: Record<string, Range> = {
  'this network': { first: '0.0.0.0', last: '0.255.255.255', outside: ['1.0.0.0'] },
  'private 10/8': { first: '10.0.0.0', last: '10.255.255.255', outside: ['9.255.255.255', '11.0.0.0'] },
  'carrier-grade NAT': {
    first: '100.64.0.0',
    last: '100.127.255.255',
    outside: ['100.63.255.255', '100.128.0.0'],
  },
  loopback: { first: '127.0.0.0', last: '127.255.255.255', outside: ['126.255.255.255', '128.0.0.0'] },
  'link-local': {
    first: '169.254.0.0',
    last: '169.254.255.255',
    outside: ['169.253.255.255', '169.255.0.0'],
  },
  'private 172.16/12': {
    first: '172.16.0.0',
    last: '172.31.255.255',
    outside: ['172.15.255.255', '172.32.0.0'],
  },
  'protocol assignments': {
    first: '192.0.0.0',
    last: '192.0.0.255',
    outside: ['191.255.255.255', '192.0.1.0'],
  },
  'documentation 1': { first: '192.0.2.0', last: '192.0.2.255', outside: ['192.0.1.255', '192.0.3.0'] },
  'AS112 v4': {
    first: '192.31.196.0',
    last: '192.31.196.255',
    outside: ['192.31.195.255', '192.31.197.0'],
  },
  AMT: { first: '192.52.193.0', last: '192.52.193.255', outside: ['192.52.192.255', '192.52.194.0'] },
  '6to4 relays': { first: '192.88.99.0', last: '192.88.99.255', outside: ['192.88.98.255', '192.88.100.0'] },
  'private 192.168/16': {
    first: '192.168.0.0',
    last: '192.168.255.255',
    outside: ['192.167.255.255', '192.169.0.0'],
  },
  'AS112 direct': {
    first: '192.175.48.0',
    last: '192.175.48.255',
    outside: ['192.175.47.255', '192.175.49.0'],
  },
  benchmarks: { first: '198.18.0.0', last: '198.19.255.255', outside: ['198.17.255.255', '198.20.0.0'] },
  'documentation 2': {
    first: '198.51.100.0',
    last: '198.51.100.255',
    outside: ['198.51.99.255', '198.51.101.0'],
  },
  'documentation 3': {
    first: '203.0.113.0',
    last: '203.0.113.255',
    outside: ['203.0.112.255', '203.0.114.0'],
  },
  multicast: { first: '224.0.0.0', last: '239.255.255.255', outside: ['223.255.255.255'] },
  'reserved and broadcast': { first: '240.0.0.0', last: '255.255.255.255', outside: [] },
};

/** The same for IPv6. What lies outside 2000::/3 has no public address beside it. */
const ipv6: Record<string, Range> = {
  'below global unicast': {
    first: '::',
    last: '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    outside: ['2000::'],
  },
  'IPv4-compatible': { first: '::', last: '::ffff:ffff', outside: [] },
  'IPv4-translated': { first: '::ffff:0:0:0', last: '::ffff:0:ffff:ffff', outside: [] },
  'local-use NAT64': { first: '64:ff9b:1::', last: '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', outside: [] },
  'discard-only': { first: '100::', last: '100::ffff:ffff:ffff:ffff', outside: [] },
  'dummy prefix': { first: '100:0:0:1::', last: '100:0:0:1:ffff:ffff:ffff:ffff', outside: [] },
  'protocol assignments': {
    first: '2001::',
    last: '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
    outside: ['2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  },
  Teredo: { first: '2001::', last: '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', outside: [] },
  benchmarks: { first: '2001:2::', last: '2001:2:0:ffff:ffff:ffff:ffff:ffff', outside: [] },
  'documentation 1': {
    first: '2001:db8::',
    last: '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    outside: ['2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  },
  '6to4': {
    first: '2002::',
    last: '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    outside: ['2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  },
  AS112: {
    first: '2620:4f:8000::',
    last: '2620:4f:8000:ffff:ffff:ffff:ffff:ffff',
    outside: ['2620:4f:7fff:ffff:ffff:ffff:ffff:ffff', '2620:4f:8001::'],
  },
  'documentation 2': {
    first: '3fff::',
    last: '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
    outside: ['3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  },
  'above global unicast': {
    first: '4000::',
    last: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    outside: ['3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  },
  'segment routing': { first: '5f00::', last: '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', outside: [] },
  'unique local': { first: 'fc00::', last: 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', outside: [] },
  'link-local': { first: 'fe80::', last: 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', outside: [] },
  multicast: { first: 'ff00::', last: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', outside: [] },
};

describe('the SSRF guard at the boundaries of special ranges', () => {
  test.each(Object.entries(ipv4))('IPv4: %s', (_name, { first, last, outside }) => {
    expect([first, last].filter(isPublicAddress)).toEqual([]);
    expect(outside.filter(isPublicAddress)).toEqual(outside);
  });

  test.each(Object.entries(ipv6))('IPv6: %s', (_name, { first, last, outside }) => {
    expect([first, last].filter(isPublicAddress)).toEqual([]);
    expect(outside.filter(isPublicAddress)).toEqual(outside);
  });

  test.each(Object.entries(ipv4))('IPv4-mapped and NAT64: %s', (_name, { first, last, outside }) => {
    const embed = (ip: string) => [`::ffff:${ip}`, `64:ff9b::${ip}`];
    expect([first, last].flatMap(embed).filter(isPublicAddress)).toEqual([]);
    expect(outside.flatMap(embed).filter(isPublicAddress)).toEqual(outside.flatMap(embed));
  });
});

const group = fc.integer({ min: 0, max: 0xffff });
const octet = fc.integer({ min: 0, max: 255 });

describe('the SSRF guard on any address', () => {
  test('IPv4-mapped and NAT64 addresses are as public as the IPv4 address inside', () => {
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), bytes => {
        const ip = bytes.join('.');
        const hex = [bytes[0] * 256 + bytes[1], bytes[2] * 256 + bytes[3]]
          .map(part => part.toString(16))
          .join(':');
        const forms = [`::ffff:${ip}`, `::ffff:${hex}`, `64:ff9b::${ip}`, `64:ff9b:0:0:0:0:${hex}`];
        expect(forms.map(isPublicAddress)).toEqual(forms.map(() => isPublicAddress(ip)));
      }),
    );
  });

  test('IPv4-compatible, IPv4-translated, local-use NAT64 and 6to4 addresses are never public', () => {
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), bytes => {
        const ip = bytes.join('.');
        const hex = [bytes[0] * 256 + bytes[1], bytes[2] * 256 + bytes[3]]
          .map(part => part.toString(16))
          .join(':');
        const forms = [`::${ip}`, `::ffff:0:${ip}`, `64:ff9b:1::${ip}`, `2002:${hex}::1`];
        expect(forms.filter(isPublicAddress)).toEqual([]);
      }),
    );
  });

  test('the notation makes no difference', () => {
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), groups => {
        const short = groups.map(part => part.toString(16)).join(':');
        const long = groups.map(part => part.toString(16).padStart(4, '0').toUpperCase()).join(':');
        const tail = groups.slice(6).flatMap(part => [part >> 8, part & 255]);
        const dotted = `${short.split(':').slice(0, 6).join(':')}:${tail.join('.')}`;
        const shortest = new URL(`http://[${short}]`).hostname.slice(1, -1);
        const forms = [long, dotted, shortest];
        expect(forms.map(isPublicAddress)).toEqual(forms.map(() => isPublicAddress(short)));
      }),
    );
  });
});
