import { describe, expect, test } from 'vitest';
import { crc16, parseQrLink } from '../../src/base/qr.ts';

const hosts = ['qr.nspk.ru', 'web.qr.nspk.ru'];
const parse = (text: string) => parseQrLink(text, hosts);

describe('links of SBP QR codes', () => {
  test('the checksum has the check value of its standard', () => {
    expect(crc16('123456789')).toBe('29B1');
  });

  test.each([
    ['AD100004BAL7227F9BNP6KNE007J9B3K?type=02&bank=100000000007&sum=1&cur=RUB&crc=AB75', 1n],
    ['AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=B754', 30_510n],
    ['AS100074QCPTCVTO8JM9NO8IDAIQPHPB?type=01&bank=100000000061&sum=1000&cur=RUB&crc=2FF3', 1_000n],
    ['AS1R004PRL5RNGBA9ARPLJLTDO94S3J9?type=01&bank=100000000061&crc=5D90', undefined],
    ['BS1A0027K1JB2RU59BCA05OBBJPMIP2T?type=01&bank=100000000004&crc=A7E6', undefined],
    ['AS100001ORTF4GAF80KPJ53K186D9A3G?type=01&bank=100000000007&crc=0C8A', undefined],
  ])('vector %s', (path, sumKopecks) => {
    const url = `https://qr.nspk.ru/${path}`;
    expect(parse(url)).toEqual({ kind: 'sbp', qrcId: path.slice(0, 32), sumKopecks, url });
  });

  const id = 'AS1000670LSS7DN18SJQDNP4B05KLJL2';
  const plain = { kind: 'sbp', qrcId: id, sumKopecks: undefined, url: `https://qr.nspk.ru/${id}` };

  test.each([
    ['short', `https://qr.nspk.ru/${id}`],
    ['web', `https://web.qr.nspk.ru/${id}`],
    ['deep link', `bank100000000111://qr.nspk.ru/${id}`],
    ['upper case, as in a picture', `HTTPS://QR.NSPK.RU/${id}`],
    ['spaces around', `  https://qr.nspk.ru/${id}\n`],
    ['a fragment', `https://qr.nspk.ru/${id}#top`],
  ])('%s', (_form, link) => {
    expect(parse(link)).toEqual(plain);
  });

  const full =
    'qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=b754';

  test('the checksum is checked in every form, case-insensitively', () => {
    for (const link of [`https://${full}`, `bank100000000111://${full}`, `https://web.${full}`]) {
      expect(parse(link)).toMatchObject({ kind: 'sbp', sumKopecks: 30_510n, url: `https://${full}` });
    }
  });

  test('&amp; is a pasted &', () => {
    const pasted = `https://${full}`.replaceAll('&', '&amp;');
    expect(parse(pasted)).toMatchObject({ kind: 'sbp', url: `https://${full}` });
  });

  test.each([
    ['a wrong checksum', `https://${full}`.replace('b754', 'b755')],
    ['a changed sum', `https://${full}`.replace('30510', '30511')],
    ['an empty checksum', `https://qr.nspk.ru/${id}?crc=`],
    ['a sum of nothing', `https://qr.nspk.ru/${id}?sum=0`],
    ['an invalid sum', `https://qr.nspk.ru/${id}?sum=1e5`],
    ['another currency', `https://qr.nspk.ru/${id}?sum=100&cur=USD`],
    ['another type', `https://qr.nspk.ru/${id}?type=04`],
    ['no id', 'https://qr.nspk.ru/'],
    ['a short id', 'https://qr.nspk.ru/AS1000670LSS7DN'],
    ['a long id', `https://qr.nspk.ru/${'A'.repeat(65)}`],
    ['an odd character', `https://qr.nspk.ru/AS1000670LSS7DN1-SJQDNP4B05KLJL2`],
    ['plain http', `http://qr.nspk.ru/${id}`],
    ['user info', `https://me@qr.nspk.ru/${id}`],
    ['a port', `https://qr.nspk.ru:8443/${id}`],
    ['a longer path', `https://qr.nspk.ru/pay/${id}`],
    ['another host', `https://qr.nspk.ru.example.com/${id}`],
    ['a bank of its own', `https://platiqr.ru/?uuid=${id}`],
    ['business', `https://b2b.cbrpay.ru/${id}`],
    ['a payment order', 'ST00012|Name=Shop|PersonalAcc=40702810138250123017'],
    ['nothing', ''],
    ['no link', 'pay me'],
    ['endless', `https://qr.nspk.ru/${id}?x=${'y'.repeat(2100)}`],
  ])('%s is invalid', (_what, link) => {
    expect(parse(link)).toEqual({ kind: 'invalid' });
  });

  test.each([
    `https://sub.nspk.ru/${id}`,
    `https://sub.nspk.ru/${id}?type=03`,
    `https://qr.nspk.ru/${id}?type=03`,
  ])('%s is a subscription', link => {
    expect(parse(link)).toEqual({ kind: 'subscription' });
  });
});
