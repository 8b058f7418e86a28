import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkWebhookUrl, isPublicAddress } from '../../src/webhooks/http/ssrf-guard.ts';
import { words } from '../helpers/words.ts';

/** Every special-purpose range as IANA registers it, and public addresses that lead to a service of a cloud. */
const ranges = {
  4: `
    0.0.0.0/8        this network
    10.0.0.0/8       private
    100.64.0.0/10    carrier-grade NAT
    127.0.0.0/8      loopback
    168.63.129.16/32 a service of a cloud
    169.254.0.0/16   link-local
    172.16.0.0/12    private
    192.0.0.0/24     protocol assignments
    192.0.2.0/24     documentation
    192.31.196.0/24  AS112
    192.52.193.0/24  AMT
    192.88.99.0/24   6to4 relays
    192.168.0.0/16   private
    192.175.48.0/24  AS112 direct
    198.18.0.0/15    benchmarks
    198.51.100.0/24  documentation
    199.36.153.4/30  a service of a cloud
    199.36.153.8/30  a service of a cloud
    203.0.113.0/24   documentation
    224.0.0.0/4      multicast
    240.0.0.0/4      reserved and broadcast`,
  6: `
    ::/3                   below global unicast
    ::/96                  IPv4-compatible
    ::ffff:0:0:0/96        IPv4-translated
    64:ff9b:1::/48         local-use NAT64
    100::/64               discard-only
    100:0:0:1::/64         dummy prefix
    2001::/23              protocol assignments
    2001::/32              Teredo
    2001:2::/48            benchmarks
    2001:10::/28           ORCHID
    2001:db8::/32          documentation
    2002::/16              6to4
    2600:2d00:2:1000::/56  a service of a cloud
    2600:2d00:2:2000::/56  a service of a cloud
    2620:4f:8000::/48      AS112
    3fff::/20              documentation
    4000::/2               above global unicast
    5f00::/16              segment routing
    8000::/1               above global unicast
    fc00::/7               unique local
    fe80::/10              link-local
    fec0::/10              former site-local
    ff00::/8               multicast`,
};

const bitsOf = { 4: 32, 6: 128 };

/** The address as a number. */
function numberOf(ip: string): bigint {
  if (ip.includes('.')) return ip.split('.').reduce((all, part) => all * 256n + BigInt(part), 0n);
  const [head, tail] = ip.split('::').map(half => half.split(':').filter(Boolean)) as [string[], string[]];
  const groups = [...head, ...Array(8 - head.length - (tail?.length ?? 0)).fill('0'), ...(tail ?? [])];
  return groups.reduce((all, group) => all * 65_536n + BigInt(`0x${group}`), 0n);
}

const parts = (value: bigint, count: number, bits: number) =>
  Array.from({ length: count }, (_, nth) =>
    Number(BigInt.asUintN(bits, value >> BigInt(bits * (count - 1 - nth)))),
  );
const hex = (groups: number[]) => groups.map(group => group.toString(16)).join(':');
/** In every notation that a family has. */
const textsOf = (family: 4 | 6, value: bigint) => {
  if (family === 6) return [hex(parts(value, 8, 16))];
  const [dotted, groups] = [parts(value, 4, 8).join('.'), hex(parts(value, 2, 16))];
  return [dotted, ...[dotted, groups].flatMap(ip => [`::ffff:${ip}`, `64:ff9b::${ip}`])];
};

const listed = ([4, 6] as const).flatMap(family =>
  Array.from(ranges[family].matchAll(/(\S+)\/(\d+) +(.*)/g), ([, ip = '', prefix, name]) => {
    const first = numberOf(ip);
    const last = first + 2n ** BigInt(bitsOf[family] - Number(prefix)) - 1n;
    return { family, name, first, last, range: `${ip}/${prefix}` };
  }),
);
const isListed = (wanted: 4 | 6, value: bigint) =>
  listed.some(({ family, first, last }) => family === wanted && first <= value && value <= last);

describe('public addresses', () => {
  test.each(listed)('$name ($range) has none, and ends where it ends', ({ family, first, last }) => {
    for (const value of [first, last]) expect(textsOf(family, value).filter(isPublicAddress)).toEqual([]);
    for (const value of [first - 1n, last + 1n])
      if (value >= 0n && value < 2n ** BigInt(bitsOf[family]))
        for (const ip of textsOf(family, value))
          expect(isPublicAddress(ip), ip).toBe(!isListed(family, value));
  });

  test('are all others, also within IPv6', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 32n - 1n), value => {
        for (const ip of textsOf(4, value)) expect(isPublicAddress(ip), ip).toBe(!isListed(4, value));
      }),
    );
    fc.assert(
      fc.property(fc.bigInt(2n ** 125n, 2n ** 126n - 1n), value => {
        for (const ip of textsOf(6, value)) expect(isPublicAddress(ip), ip).toBe(!isListed(6, value));
      }),
    );
    for (const ip of ['2A00:1450:4010:C0E::8A', '64:ff9b:0:0:0:0:808::', '0:0:0:0:0:ffff:8.8.8.8'])
      expect(isPublicAddress(ip), ip).toBe(true);
  });

  test('are none that carry one in another way', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 32n - 1n), value => {
        const [ip, groups] = [parts(value, 4, 8).join('.'), hex(parts(value, 2, 16))];
        const forms = [`::${ip}`, `::ffff:0:${ip}`, `64:ff9b:1::${ip}`, `2002:${groups}::1`];
        expect(forms.filter(isPublicAddress)).toEqual([]);
      }),
    );
  });

  test('are the same in every notation', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 128n - 1n), value => {
        const groups = parts(value, 8, 16);
        const short = hex(groups);
        const long = groups.map(part => part.toString(16).padStart(4, '0').toUpperCase()).join(':');
        const dotted = `${hex(groups.slice(0, 6))}:${parts(BigInt.asUintN(32, value), 4, 8).join('.')}`;
        const shortest = new URL(`http://[${short}]`).hostname.slice(1, -1);
        expect([long, dotted, shortest].map(isPublicAddress)).toEqual(Array(3).fill(isPublicAddress(short)));
      }),
    );
  });

  test.each([
    ...['', 'localhost', '127.1', '0x7f.0.0.1', '2130706433', '1.2.3.4 ', '[::1]', '8.8.8.8:443'],
    ...['2606:4700::1%eth0', 'fe80::1%1'],
  ])('not an address: %j', text => expect(isPublicAddress(text)).toBe(false));
});

const check = (text: string, allowPrivate = false) => checkWebhookUrl(text, { allowPrivate });
const refused = { outcome: 'refused', reason: expect.stringMatching(/^[A-Z][^\n]+\.$/) };

/** Notations of local and private addresses that the URL parser accepts. */
const privateHosts = words(`
  127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 0x7F.0.0.0x1 127.0.0.1.
  %31%32%37.0.0.1 ①②⑦.⓪.⓪.① １２７．０．０．１ 127。0。0。1 0 0.0.0.0 10.0.0.1 172.16.0.1 192.168.1.1
  169.254.169.254 0xa9fea9fe 100.64.0.1 255.255.255.255 [::1] [::] [0:0:0:0:0:0:0:1]
  [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:169.254.169.254] [::127.0.0.1] [64:ff9b::127.0.0.1]
  [2002:7f00:1::] [fe80::1] [fd00::1]`);

describe('URLs that may be saved', () => {
  test.each([
    ['https://example.com/webhook?a=1&b=2', 'https://example.com/webhook?a=1&b=2'],
    ['https://example.com', 'https://example.com/'],
    ['https://example.com:443/', 'https://example.com/'],
    ['https://example.com:1024/', 'https://example.com:1024/'],
    ['https://example.com:65535/', 'https://example.com:65535/'],
    ['HTTPS://EXAMPLE.com/A', 'https://example.com/A'],
    ['  https://a_b.example.co.uk/ ', 'https://a_b.example.co.uk/'],
    ['https://пример.рф/', 'https://xn--e1afmkfd.xn--p1ai/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://134744072:8443/', 'https://8.8.8.8:8443/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
    ['https://my-local.com/', 'https://my-local.com/'],
  ])('%s', (text, href) => {
    for (const allowPrivate of [false, true]) {
      const answer = check(text, allowPrivate);
      expect(answer).toEqual({ outcome: 'ok', url: expect.any(URL) });
      expect(answer.outcome === 'ok' && answer.url.href).toBe(href);
    }
  });

  test('as long as 2048 characters', () => {
    const start = 'https://example.com/';
    expect(check(start.padEnd(2048, 'a'))).toMatchObject({ outcome: 'ok' });
    expect(check(start.padEnd(2049, 'a'))).toEqual(refused);
    // Short as written, too long once it is percent-encoded.
    expect(check(`${start}${'я'.repeat(400)}`)).toEqual(refused);
  });
});

describe('URLs that may not be saved', () => {
  test.each(privateHosts)('host %s', host => {
    expect(check(`https://${host}/`)).toEqual(refused);
    expect(check(`https://${host}:8443/`)).toEqual(refused);
  });

  test.each([
    ...words(`
      localhost LOCALHOST localhost. a.localhost printer.local metadata.google.internal router.home.arpa
      example.onion example.com. example.com.. example..com .example.com intranet com ｌocalhost
      a*b.example.com a'b.example.com -a.example.com`),
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}com`,
  ])('name %s', host => {
    expect(check(`https://${host}/`)).toEqual(refused);
  });

  test.each([
    '',
    'https://exa mple.com/',
    ...words(`
      example.com //example.com/ https:// https:/// https://1.2.3.256/ https://1.2.3.4.5/ https://foo.0x7f/
      https://[fe80::1%25eth0]/ https://[::1/ https://example.com:65536/ http://example.com/ http://8.8.8.8/
      ftp://example.com/ file:///etc/passwd javascript:alert(1) ws://example.com/ https://user@example.com/
      https://user:password@example.com/ https://:password@example.com/ https://example.com@127.0.0.1/
      https://example.com\\@127.0.0.1/# https://example.com/#part https://example.com/# https://example.com:0/
      https://example.com:22/ https://example.com:80/ https://example.com:442/ https://example.com:444/
      https://example.com:1023/`),
  ])('%s', text => {
    for (const allowPrivate of [false, true]) expect(check(text, allowPrivate)).toEqual(refused);
  });

  test('the reason does not quote the URL', () => {
    const reasons = words(`https://user:hunter2@example.com/hunter2 http://example.com/hunter2 hunter2
      https://hunter2/hunter2#hunter2 https://hunter2.local/hunter2 https://10.0.0.1/hunter2`).map(text =>
      check(text),
    );
    expect(JSON.stringify(reasons)).not.toContain('hunter2');
  });
});

describe('with the SSRF guard disabled', () => {
  test.each([...privateHosts, 'localhost'])('host %s may be saved, with http and any port', host => {
    for (const start of ['http', 'https']) {
      expect(check(`${start}://${host}:1/`, true)).toMatchObject({ outcome: 'ok' });
      expect(check(`${start}://${host}/`, true)).toMatchObject({ outcome: 'ok' });
      expect(check(`${start}://${host}:0/`, true)).toEqual(refused);
    }
    expect(check(`http://user@${host}/`, true)).toEqual(refused);
    expect(check(`ftp://${host}/`, true)).toEqual(refused);
  });

  test.each(['a.localhost', 'printer.local', 'intranet', 'localhost.'])('name %s may not', host => {
    expect(check(`http://${host}:8080/`, true)).toEqual(refused);
    expect(check(`https://${host}:8080/`, true)).toEqual(refused);
  });
});
