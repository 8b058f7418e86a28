import { describe, expect, test } from 'vitest';
import { setMaintenance } from '../../src/controls/index.ts';
import { createPartnerWithKeys, setRate, startApi } from '../helpers/api.ts';
import { createTimedDatabase } from '../helpers/database.ts';

const { pool, clock, audit } = await createTimedDatabase('2026-11-15T10:00:00Z');
await setRate(pool, clock);
const { address } = await startApi({ pool, clock });
const { partnerId } = await createPartnerWithKeys(pool);

async function visit(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${address}${path}`, { headers });
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

test('visitors behind one proxy do not use up the answers of each other', async () => {
  const answers = await Promise.all(Array.from({ length: 200 }, () => visit('/status.json')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});
