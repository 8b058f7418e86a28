import { describe, expect, test } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import { readSettings } from '../../src/base/settings.ts';
import { words } from '../helpers/words.ts';

describe('settings', () => {
  test('all have defaults that work on a laptop', () => {
    // Settings without a default are not there.
    expect(readSettings({})).toEqual({
      ...{ production: false, roles: ['api', 'worker', 'bot', 'console'], logLevel: 'info', drainSec: 0 },
      ...{ port: 8080, host: '127.0.0.1', metricsHost: '127.0.0.1', dataDir: './data', trustProxy: [] },
      ...{ qrHosts: ['qr.nspk.ru', 'web.qr.nspk.ru'], previousSecretKeys: [], depositChains: [] },
      ...{ rateSpreadBps: 100, rateRefreshSec: 60, rateMaxAgeSec: 300 },
      rateBounds: { minE4: 400_000n, maxE4: 4_000_000n },
      ...{ testPaymentsPerDay: 10_000, testDataDays: 90, requestLogDays: 7, portalSessionHours: 12 },
      quoteLock: {
        ...{ lifetimeSec: 60, spreadBps: 50 },
        ...{ maxMicroUsdtOfPartner: 5_000_000_000n, maxMicroUsdt: 50_000_000_000n },
      },
      webhookRetryScheduleSec: [0, 10, 30, 120, 300, 900, 3_600, 10_800, 21_600],
      ...{
        webhookAllowPrivate: true,
        telegramApiRoot: 'https://api.telegram.org',
        telegramStaffLanguage: 'ru',
      },
    });
  });

  test('in production a process drains for some seconds before it stops', () => {
    const production = { NODE_ENV: 'production', SECRET_KEY: 'k'.repeat(32) };
    expect(readSettings(production).drainSec).toBe(5);
    expect(readSettings({ ...production, DRAIN_SEC: '30' }).drainSec).toBe(30);
    expect(() => readSettings({ DRAIN_SEC: '301' })).toThrow(
      'DRAIN_SEC must be a whole number from 0 to 300',
    );
  });

  test('an empty value counts as unset', () => {
    expect(readSettings({ PORT: ' ', SECRET_KEY: '' })).toEqual(readSettings({}));
  });

  test('an address may end with slashes', () => {
    const addresses = { GATEWAY_URL: 'http://bank/base/', PUBLIC_URL: 'https://pay.example.com//' };
    expect(readSettings(addresses)).toMatchObject({
      gatewayUrl: 'http://bank/base',
      publicUrl: 'https://pay.example.com',
    });
  });

  test('support is a page, a chat or an e-mail address', () => {
    for (const url of ['https://help.example.com/kopeck', 'https://t.me/help', 'mailto:help@x.example'])
      expect(readSettings({ SUPPORT_URL: url }).supportUrl).toBe(url);
    expect(() => readSettings({ SUPPORT_URL: 'help.example.com' })).toThrow(
      'SUPPORT_URL must be an https:// URL, https://t.me/NAME or mailto:ADDRESS, not "help.example.com"',
    );
  });

  test('mails need a server and a sender, and no message repeats the password', () => {
    const SMTP_FROM = 'reports@example.com';
    const read = (SMTP_URL: string | undefined, from: string | undefined = SMTP_FROM) =>
      readSettings({ SMTP_URL, SMTP_FROM: from }).smtp;
    expect(read('smtp://a%40b:p%3Aw@mail.example.com')).toEqual({
      ...{ host: 'mail.example.com', port: 587, isSecure: false, from: SMTP_FROM },
      ...{ user: 'a@b', password: 'p:w' },
    });
    expect(read('smtps://mail.example.com')).toMatchObject({ port: 465, isSecure: true });
    for (const url of [
      undefined,
      'mail.example.com',
      'http://x',
      'smtp://',
      'smtp://u:hidden@h/x',
      'smtp://u:hidden@h?a=1',
      'smtp://u:hidden@h:0',
    ])
      expect(() => read(url)).toThrow(/^SMTP_URL must be smtp(?!.*hidden)/);
    expect(() => read('smtp://u:hidden%@h')).toThrow(/^SMTP_URL must(?!.*hidden)/);
    for (const from of [' ', 'Kopeck <a@b.example>', 'a@b'])
      expect(() => read('smtp://h', from)).toThrow(/^SMTP_FROM must/);
  });

  test('the webhook of the bot needs a secret', () => {
    const TELEGRAM_WEBHOOK_URL = 'https://pay.example.com/telegram';
    for (const secret of [undefined, 'short', 'with spaces, and long enough'])
      expect(() => readSettings({ TELEGRAM_WEBHOOK_URL, TELEGRAM_WEBHOOK_SECRET: secret })).toThrow(
        /^TELEGRAM_WEBHOOK_SECRET must/,
      );
    const secret = 'sixteen_or_more-0';
    const { telegramWebhook } = readSettings({ TELEGRAM_WEBHOOK_URL, TELEGRAM_WEBHOOK_SECRET: secret });
    expect(telegramWebhook).toEqual({ url: TELEGRAM_WEBHOOK_URL, secret });
  });

  const bad: Record<string, string[]> = {
    NODE_ENV: ['prod', 'Production'],
    PORT: ['http', '-1', '65536', '80.5', '0x50'],
    AUDIT_HEADS: ['s3://bucket', 's3://bucket/'],
    METRICS_PORT: ['8080', 'none'],
    DATABASE_URL: ['mysql://localhost/x', 'localhost:5432'],
    LOG_LEVEL: ['loud'],
    ROLES: ['api,cook'],
    GATEWAY_URL: ['ftp://bank'],
    GATEWAY_TOKEN: ['two words'],
    QR_HOSTS: ['https://qr.nspk.ru'],
    TRUST_PROXY: ['everybody'],
    PUBLIC_URL: ['pay.example.com'],
    SUPPORT_URL:
      words(`help.example.com http://help.example.com tg://resolve?domain=help https://t.me https://a:b@c.example
      mailto: mailto:help mailto:help@x.example,other@x.example mailto:help@x.example?subject=a`),
    TELEGRAM_BOT_TOKEN: ['123'],
    TELEGRAM_BOT_NAME: ['a bot'],
    TELEGRAM_API_ROOT: ['telegram'],
    TELEGRAM_STAFF_CHAT: ['@staff'],
    TELEGRAM_STAFF_LANGUAGE: ['RU', 'de'],
    TELEGRAM_WEBHOOK_URL: ['http://pay.example.com/telegram', 'https://pay.example.com/'],
    SECRET_KEY: ['short'],
    SECRET_KEY_PREVIOUS: ['p'.repeat(32)],
    RATE_SOURCES: words(`binance Rapira rapira, rapira,,abcex rapira,rapira fixed fixed: fixed:0 fixed:-92.5
      fixed:92.50001 fixed:9e1 fixed:92.5,fixed:92.50 http:// ftp://rates.example/
      https://rates.example/?a,https://rates.example/?b rapira,fixed:9250`),
    RATE_SPREAD_BPS: ['-1', '5001', '1.5', '1%'],
    RATE_REFRESH_SEC: ['0', '86401'],
    TEST_PAYMENTS_PER_DAY: ['0', 'none'],
    TEST_DATA_DAYS: ['6', '3651'],
    PORTAL_SESSION_HOURS: ['0', '25', '1.5'],
    REQUEST_LOG_DAYS: ['91', '-1', 'week'],
    RATE_MAX_AGE_SEC: ['0', 'NaN'],
    QUOTE_LOCK_SEC: ['29', '901'],
    QUOTE_LOCK_SPREAD_BPS: ['-1', '5001'],
    QUOTE_LOCK_PARTNER_USDT: ['-1', '1.0000001'],
    QUOTE_LOCK_TOTAL_USDT: ['all'],
    RATE_MIN: ['0', '-40', '400.0001'],
    RATE_MAX: ['4e2'],
    CRYPTO_PAY_TOKEN: ['two words'],
    WEBHOOK_RETRY_SCHEDULE_SEC: [',', '0,,10', '10,30', '0,1.5'],
    WEBHOOK_ALLOW_PRIVATE: ['yes'],
  };
  test.each(Object.entries(bad).flatMap(([name, values]) => values.map(value => [name, value] as const)))(
    'a bad %s (%s) stops the start with one line that names it',
    (name, value) => {
      expect(() => readSettings({ [name]: value })).toThrow(OperatorError);
      expect(() => readSettings({ [name]: value })).toThrow(new RegExp(`^${name} [^\\n]*$`));
    },
  );

  test('production needs a SECRET_KEY', () => {
    expect(() => readSettings({ NODE_ENV: 'production' })).toThrow(/^SECRET_KEY must be set in production/);
    const secretKey = 'k'.repeat(32);
    expect(readSettings({ NODE_ENV: 'production', SECRET_KEY: secretKey }).secretKey).toBe(secretKey);
  });

  test('SECRET_KEY_PREVIOUS has one key per line, and never the current one', () => {
    const [current, first, second] = ['k', 'a', 'b, with a comma'].map(text => text.padEnd(32, '.'));
    const read = (previous: string) =>
      readSettings({ SECRET_KEY: current!, SECRET_KEY_PREVIOUS: previous }).previousSecretKeys;
    expect(read(`${first}\n ${second}\n`)).toEqual([first, second]);
    expect(() => read(`${first}\nshort`)).toThrow(/^SECRET_KEY_PREVIOUS must have at least 32 characters/);
    expect(() => read(`${first}\n${current}`)).toThrow(/^SECRET_KEY_PREVIOUS must not repeat SECRET_KEY/);
  });

  test('rate sources keep their order', () => {
    const text = ' rapira, fixed:92.50 ,https://rates.example/usdt?key=1,cryptopay';
    expect(readSettings({ RATE_SOURCES: text, CRYPTO_PAY_TOKEN: '1:token' })).toMatchObject({
      rateSources: [
        { kind: 'exchange', name: 'rapira' },
        { kind: 'fixed', name: 'fixed:92.5000', rateE4: 925_000n },
        { kind: 'feed', name: 'https://rates.example/usdt', url: 'https://rates.example/usdt?key=1' },
        { kind: 'exchange', name: 'cryptopay' },
      ],
      cryptoPayToken: '1:token',
    });
  });

  test('the bounds of the rate settings are inclusive', () => {
    const least = readSettings({ RATE_SPREAD_BPS: '0', RATE_REFRESH_SEC: '1', RATE_MAX_AGE_SEC: '1' });
    expect(least).toMatchObject({ rateSpreadBps: 0, rateRefreshSec: 1, rateMaxAgeSec: 1 });
    expect(readSettings({ RATE_SPREAD_BPS: '5000' })).toMatchObject({ rateSpreadBps: 5_000 });
    const most = readSettings({ TEST_PAYMENTS_PER_DAY: '1000000000' });
    expect(most.testPaymentsPerDay).toBe(1_000_000_000);
  });

  test('a fixed rate may be at the bounds', () => {
    const bounds = { RATE_MIN: '90', RATE_MAX: '100.5' };
    const { rateBounds } = readSettings({ ...bounds, RATE_SOURCES: 'fixed:90' });
    expect(rateBounds).toEqual({ minE4: 900_000n, maxE4: 1_005_000n });
    expect(() => readSettings({ ...bounds, RATE_SOURCES: 'fixed:100.5001' })).toThrow(
      'RATE_SOURCES has fixed:100.5001, outside of RATE_MIN and RATE_MAX',
    );
  });

  test('Crypto Pay needs its token', () => {
    expect(() => readSettings({ RATE_SOURCES: 'cryptopay' })).toThrow(/^CRYPTO_PAY_TOKEN must be set/);
  });

  test.each([
    { DATABASE_URL: 'mysql://me:hunter2@db/x' },
    { RATE_SOURCES: 'https://me:hunter2@rates.example/' },
    { RATE_SOURCES: 'https://rates.example/?key=hunter2,https://rates.example/?key=hunter2' },
    { RATE_SOURCES: 'https://rates example/?key=hunter2' },
    { CRYPTO_PAY_TOKEN: 'hunter2 ☃' },
  ])('a secret is not repeated: %j', environment => {
    expect(() => readSettings(environment)).toThrow(OperatorError);
    expect(() => readSettings(environment)).not.toThrow(/hunter2/);
  });
});
