import { describe, expect, test } from 'vitest';
import { crc16 } from '../../src/base/qr.ts';
import { newLink } from '../helpers/api.ts';
import { codeOf, startTestModeWorld } from './test-mode-world.ts';

const { newPartner, expectNothingHappened } = await startTestModeWorld();

describe('a link', () => {
  const id = 'AD10004MV5CJ3D638358RO81129CE63P';
  const checked = (text: string) => `${text}&crc=${crc16(text)}`;
  const good = `https://qr.nspk.ru/${id}?type=02&bank=100000000004&sum=30510&cur=RUB`;

  test.each([
    good,
    checked(good),
    'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=B754',
    good.replace('qr.', 'web.qr.'),
    good.replace('https', 'bank100000000004'),
    good.replaceAll('&', '&amp;'),
    `  ${good}\n`,
    good.replace('type=02', 'type=01'),
  ])('is paid: %s', async qr_url => {
    const partner = await newPartner();
    expect((await partner.pay({ qr_url })).json).toMatchObject({ status: 'succeeded', amount_rub: '305.10' });
    expect((await partner.post('/v1/qr/resolve', { body: { qr_url } })).json).toEqual({
      qrc_id: id,
      recipient: 'Test recipient',
      amount_rub: '305.10',
      currency: 'RUB',
      purpose: 'Test payment',
      payable: true,
      request_id: expect.stringMatching(/^req_/),
    });
  });

  test.each([
    '',
    ' ',
    id,
    'https://qr.nspk.ru/',
    'https://qr.nspk.ru/short',
    `http://qr.nspk.ru/${id}`,
    `ftp://qr.nspk.ru/${id}`,
    `javascript://qr.nspk.ru/${id}`,
    `https://example.com/${id}`,
    `https://qr.nspk.ru.example.com/${id}`,
    `https://example.com/?https://qr.nspk.ru/${id}`,
    `https://user@qr.nspk.ru/${id}`,
    `https://qr.nspk.ru@example.com/${id}`,
    `https://qr.nspk.ru:8443/${id}`,
    `https://qr.nspk.ru/${id}/more`,
    `https://qr.nspk.ru/../${id}`,
    `${good}&crc=0000`,
    good.replace('cur=RUB', 'cur=USD'),
    good.replace('30510', '0'),
    good.replace('30510', '-1'),
    good.replace('30510', '1.5'),
    good.replace('30510', '1e3'),
    good.replace('30510', '1'.repeat(30)),
    good.replace('type=02', 'type=99'),
    '🙂',
  ])('is invalid: %s', async qr_url => {
    const partner = await newPartner();
    expect(codeOf(await partner.pay({ qr_url }))).toBe('400 invalid_qr');
    expect(codeOf(await partner.post('/v1/qr/resolve', { body: { qr_url } }))).toBe('400 invalid_qr');
    await expectNothingHappened(partner);
  });

  test('is invalid when it is longer than any link', async () => {
    const partner = await newPartner();
    const qr_url = `${good}&pad=${'x'.repeat(3_000)}`;
    expect(codeOf(await partner.pay({ qr_url }))).toBe('400 invalid_qr');
  });

  test.each([`https://sub.nspk.ru/${id}`, `https://qr.nspk.ru/${id}?type=03`])(
    'is for a subscription: %s',
    async qr_url => {
      const partner = await newPartner();
      expect(codeOf(await partner.pay({ qr_url, amount_rub: 100 }))).toBe('400 unsupported_qr');
      expect(codeOf(await partner.post('/v1/qr/resolve', { body: { qr_url } }))).toBe('400 unsupported_qr');
      await expectNothingHappened(partner);
    },
  );

  test('without an amount cannot be resolved, even in test mode', async () => {
    const partner = await newPartner();
    const resolved = await partner.post('/v1/qr/resolve', { body: { qr_url: newLink() } });
    expect(codeOf(resolved)).toBe('400 unsupported_variable_amount');
  });

  test('over an amount outside the limits is resolved as not payable', async () => {
    const partner = await newPartner();
    const payable = [];
    for (const kopecks of [999, 1_000, 10_000_000, 10_000_001]) {
      const body = { qr_url: newLink(kopecks) };
      payable.push((await partner.post('/v1/qr/resolve', { body })).json.payable);
    }
    expect(payable).toEqual([false, true, true, false]);
  });

  test.each([null, 1, true, [], {}, undefined])('that is %j is malformed', async qr_url => {
    const partner = await newPartner();
    for (const path of ['/v1/payments', '/v1/qr/resolve']) {
      const { status, json } = await partner.post(path, { body: { qr_url } });
      expect({ status, loc: json.detail[0].loc }).toEqual({ status: 422, loc: ['body', 'qr_url'] });
    }
  });

  test('with NUL or half a character is malformed', async () => {
    const partner = await newPartner();
    for (const bad of ['\\u0000', '\\ud800']) {
      const { status, json } = await partner.post('/v1/payments', { raw: `{"qr_url":"${good}${bad}"}` });
      expect({ status, loc: json.detail[0].loc }).toEqual({ status: 422, loc: ['body', 'qr_url'] });
    }
  });
});
