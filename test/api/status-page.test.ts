import { describe, expect, test } from 'vitest';
import { preferredLanguage } from '../../src/api/status/texts.ts';
import { setMaintenance } from '../../src/controls/index.ts';
import { createPartnerWithKeys, setRate, startApi } from '../helpers/api.ts';
import { createTimedDatabase } from '../helpers/database.ts';

const { pool, clock, audit } = await createTimedDatabase('2026-11-15T10:00:00Z');
await setRate(pool, clock);
const { address } = await startApi({ pool, clock, trustProxy: ['127.0.0.1'] });
const { partnerId } = await createPartnerWithKeys(pool);

let networks = 0;
async function visit(path: string, headers: Record<string, string> = {}) {
  const from = { 'x-forwarded-for': `198.51.100.${++networks}` };
  const response = await fetch(`${address}${path}`, { headers: { ...from, ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test('the status for programs', async () => {
  const { status, headers, text } = await visit('/status.json');
  expect(status).toBe(200);
  expect(headers.get('cache-control')).toBe('public, max-age=3');
  expect(JSON.parse(text)).toEqual({
    status: 'operational',
    components: { payments: 'operational', webhooks: 'operational', rate: 'operational' },
    maintenance: { is_on: false, windows: [] },
    checked_at: '2026-11-15T10:00:00.000Z',
    request_id: expect.stringMatching(/^req_/),
  });
});

describe('the page', () => {
  test.each([
    ['', 'en', /Everything works/],
    ['ru-RU,ru;q=0.9,en;q=0.8', 'ru', /Всё работает/],
    ['en-GB,ru;q=0.5', 'en', /Everything works/],
  ])('is in the language of the browser: "%s"', async (wanted, language, says) => {
    const { text, headers } = await visit('/status', { 'accept-language': wanted });
    expect(text).toMatch(says);
    expect(text).toContain(`<main id="content" class="landing" tabindex="-1" lang="${language}">`);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('vary')).toContain('Accept-Language');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'/);
  });

  test('has a switch to the other language, which is stronger than the browser', async () => {
    const english = await visit('/status', { 'accept-language': 'en' });
    expect(english.text).toContain('href="/status?lang=ru"');
    const russian = await visit('/status?lang=ru', { 'accept-language': 'en' });
    expect(russian.text).toContain('Статус сервиса');
    expect(russian.text).toContain('href="/status?lang=en"');
    expect((await visit('/status?lang=xx&lang=ru')).status).toBe(200);
  });

  test('names maintenance, and no partner', async () => {
    await setMaintenance(audit, true);
    await clock.advance(5_000);
    const { text } = await visit('/status');
    expect(text).toContain('Maintenance: new payments are not accepted');
    expect(text).toMatch(/<th scope="row">Payments<\/th><td>Down<\/td>/);
    for (const word of [partnerId, 'Test shop', audit.actor]) expect(text).not.toContain(word);
    await setMaintenance(audit, false);
    await clock.advance(5_000);
  });
});

test('one network cannot ask without limit, others are not held up', async () => {
  const flood = { 'x-forwarded-for': '203.0.113.1' };
  const answers = await Promise.all(Array.from({ length: 61 }, () => visit('/status.json', flood)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(JSON.parse(refused.text).error.code).toBe('rate_limited');
  expect(refused.headers.get('retry-after')).toBe('1');
  expect((await visit('/status.json')).status).toBe(200);
});

test.each([
  [undefined, 'en'],
  ['*', 'en'],
  ['de, fr;q=0.9', 'en'],
  ['ru', 'ru'],
  ['RU-ru', 'ru'],
  ['en, ru', 'en'],
  ['en;q=0.7, ru', 'ru'],
  ['ru;q=0', 'en'],
  ['ru;q=x, en;q=0.1', 'en'],
  [',,;;=', 'en'],
])('the language of %s is %s', (header, language) => {
  expect(preferredLanguage(header)).toBe(language);
});
