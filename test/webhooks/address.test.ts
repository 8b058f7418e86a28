import { describe, expect, test } from 'vitest';
import { checkWebhookUrl, isPublicAddress } from '../../src/webhooks/http/ssrf-guard.ts';

describe('public addresses', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2000::1',
    '2001:200::1',
    '2001:db7:ffff::1',
    '2001:db9::1',
    '2003::1',
    '2606:4700:4700::1111',
    '2A00:1450:4010:C0E::8A',
    '3ffe:ffff::1',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '0:0:0:0:0:ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '64:ff9b::808:0',
    '64:ff9b:0:0:0:0:808::',
  ])('%s is public', ip => {
    expect(isPublicAddress(ip)).toBe(true);
  });

  test.each([
    ['this network', ['0.0.0.0', '0.1.2.3', '0.255.255.255']],
    [
      'private',
      ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
    ],
    ['carrier-grade NAT', ['100.64.0.0', '100.100.100.200', '100.127.255.255']],
    [
      'a service of a cloud',
      [
        '168.63.129.16',
        '::ffff:168.63.129.16',
        '199.36.153.4',
        '199.36.153.11',
        '2600:2d00:2:1000::',
        '2600:2d00:2:2000::1',
      ],
    ],
    ['loopback', ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1']],
    ['link-local', ['169.254.0.0', '169.254.169.254', 'fe80::1', 'febf::1', 'fe80::1%eth0', 'fe80::1%1']],
    ['protocol assignments', ['192.0.0.1', '192.0.0.192', '2001:1::1', '2001:1ff:ffff::1']],
    ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1', '3fff:fff::1']],
    ['benchmarks', ['198.18.0.0', '198.19.255.255', '2001:2::1']],
    ['AS112 and tunnels', ['192.31.196.1', '192.52.193.1', '192.175.48.1', '192.88.99.1', '2620:4f:8000::1']],
    ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1']],
    ['reserved and broadcast', ['240.0.0.1', '255.255.255.254', '255.255.255.255']],
    ['unspecified', ['::', '0:0:0:0:0:0:0:0']],
    [
      'IPv4-mapped',
      ['::ffff:127.0.0.1', '::ffff:7f00:1', '::FFFF:10.0.0.1', '0:0:0:0:0:ffff:a9fe:a9fe', '::ffff:0:0'],
    ],
    ['IPv4-compatible', ['::127.0.0.1', '::7f00:1', '::8.8.8.8']],
    ['IPv4-translated', ['::ffff:0:7f00:1', '::ffff:0:8.8.8.8']],
    [
      'NAT64',
      ['64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b::', '64:ff9b:0:0:0:0:7f00::', '64:ff9b::a00:0'],
    ],
    ['local-use NAT64', ['64:ff9b:1::1', '64:ff9b:1:ffff::808:808']],
    ['Teredo', ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2']],
    ['ORCHID', ['2001:10::1', '2001:2f::1']],
    ['6to4', ['2002::1', '2002:7f00:1::1', '2002:808:808::1']],
    ['discard', ['100::1', '100:0:0:1::1']],
    ['segment routing', ['5f00::1']],
    ['unique local', ['fc00::1', 'fd00:ec2::254', 'fdff::1']],
    ['former site-local', ['fec0::1']],
    ['not allocated', ['1fff::1', '4000::1', '8000::1', 'e000::1']],
    ['with a zone id', ['2606:4700::1%eth0']],
    [
      'not an address',
      ['', 'localhost', '127.1', '0x7f.0.0.1', '2130706433', '1.2.3.4 ', '[::1]', '8.8.8.8:443'],
    ],
  ])('%s is not public', (_kind, ips) => {
    expect(ips.filter(isPublicAddress)).toEqual([]);
  });
});

const check = (text: string, allowPrivate = false) => checkWebhookUrl(text, { allowPrivate });
const refused = { outcome: 'refused', reason: expect.stringMatching(/^[A-Z][^\n]+\.$/) };

/** Notations of local and private addresses that the URL parser accepts. */
const privateHosts = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '0x7F.0.0.0x1',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '①②⑦.⓪.⓪.①',
  '１２７．０．０．１',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '100.64.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::FFFF:169.254.169.254]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fd00::1]',
];

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
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'printer.local',
    'metadata.google.internal',
    'router.home.arpa',
    'example.onion',
    'example.com.',
    'example.com..',
    'example..com',
    '.example.com',
    'intranet',
    'com',
    'ｌocalhost',
    'a*b.example.com',
    "a'b.example.com",
    '-a.example.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}com`,
  ])('name %s', host => {
    expect(check(`https://${host}/`)).toEqual(refused);
  });

  test.each([
    'example.com',
    '//example.com/',
    '',
    'https://',
    'https:///',
    'https://exa mple.com/',
    'https://1.2.3.256/',
    'https://1.2.3.4.5/',
    'https://foo.0x7f/',
    'https://[fe80::1%25eth0]/',
    'https://[::1/',
    'https://example.com:65536/',
    'http://example.com/',
    'http://8.8.8.8/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'ws://example.com/',
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://:password@example.com/',
    'https://example.com@127.0.0.1/',
    'https://example.com\\@127.0.0.1/#',
    'https://example.com/#part',
    'https://example.com/#',
    'https://example.com:0/',
    'https://example.com:22/',
    'https://example.com:80/',
    'https://example.com:442/',
    'https://example.com:444/',
    'https://example.com:1023/',
  ])('%s', text => {
    for (const allowPrivate of [false, true]) expect(check(text, allowPrivate)).toEqual(refused);
  });

  test('the reason does not quote the URL', () => {
    const reasons = [
      'https://user:hunter2@example.com/hunter2',
      'http://example.com/hunter2',
      'https://hunter2/hunter2#hunter2',
      'hunter2',
      'https://hunter2.local/hunter2',
      'https://10.0.0.1/hunter2',
    ].map(text => check(text));
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
