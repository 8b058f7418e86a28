import { describe, expect, test } from 'vitest';
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
    ['/status', 'en', /Everything works/, '/ru/status'],
    ['/ru/status', 'ru', /Всё работает/, '/status'],
  ])('%s is in %s, with a link to the other language', async (path, language, says, other) => {
    const { text, headers } = await visit(path);
    expect(text).toMatch(says);
    expect(text).toContain(`<html lang="${language}">`);
    expect(text).toContain(`href="${other}"`);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'/);
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
