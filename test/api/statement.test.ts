import { createHash } from 'node:crypto';
import { test as base, beforeEach, describe, expect } from 'vitest';
import { transaction } from '../../src/db/postgres/pool.ts';
import { credit } from '../../src/ledger/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { codeOf, issueKey, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
// Long past by the clock of the database too, which closes the days.
const clock = manualClock('2026-11-10T23:59:00.000Z');
const { address } = await startApi({ pool, clock });
beforeEach(() => setRate(pool, clock));

/** Its first entry has the time of the test's clock: entries never go back in time. */
async function newCustomer() {
  const audit = auditContextOf(pool, clock);
  const { partnerId } = await createPartner(audit, 'Shop of the past');
  const funding = { partnerId, mode: 'live', reference: 'funding', microUsdt: 1_000_000_000n } as const;
  await transaction(pool, tx => credit(tx, clock, [funding]));
  const keyOf = (mode: 'test' | 'live') => issueKey(pool, partnerId, mode);
  return { testKey: await keyOf('test'), liveKey: await keyOf('live') };
}

const dayMs = 86_400_000;
const today = () => new Date(clock.nowMs()).toISOString().slice(0, 10);
const fileOf = (key: string, query: string, headers: Record<string, string> = {}) =>
  fetch(`${address}/v1/statement?${query}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
const test = base.extend('testKey', async () => (await newCustomer()).testKey);

describe('the statement of a day', () => {
  test('has all entries, is open today, and never changes once the day is over', async ({ testKey }) => {
    const partner = partnerAt(address, testKey);
    const day = today();
    const paid = (await partner.pay({ qr_url: newLink(10_000) })).json;
    const waiting = (await partner.pay({ qr_url: newLink(10_002) })).json;
    const open = await partner.get(`/v1/statement?day=${day}`);
    expect(open.json).toMatchObject({ object: 'statement', mode: 'test', day, closed: false });
    expect(open.json.entries.map((entry: { payment_id: string }) => entry.payment_id)).toEqual(
      expect.arrayContaining([paid.id, waiting.id]),
    );
    expect(open.json.open_holds).toMatchObject([{ payment_id: waiting.id }]);

    clock.advance(dayMs);
    await setRate(pool, clock);
    const closed = await partner.get(`/v1/statement?day=${day}`);
    expect(closed.json).toMatchObject({ closed: true, entries: open.json.entries });
    expect(closed.json.request_id).toBeUndefined();
    await partner.pay({ qr_url: newLink(10_000) });
    expect((await partner.get(`/v1/statement?day=${day}&format=json`)).text).toBe(closed.text);
    const next = await partner.get(`/v1/statement?day=${today()}`);
    expect(next.json.opening).toEqual(closed.json.closing);
  });

  test('comes in both formats with the digest of the first, in the header too', async ({ testKey }) => {
    const partner = partnerAt(address, testKey);
    await partner.pay({ qr_url: newLink(10_000) });
    const query = `day=${today()}`;
    const { json, headers } = await partner.get(`/v1/statement?${query}`);
    const response = await fileOf(testKey, `${query}&format=csv`);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    const csv = await response.text();
    const before = csv.slice(0, csv.lastIndexOf('\n', csv.length - 2) + 1);
    const digest = `sha256:${createHash('sha256').update(before).digest('hex')}`;
    expect(json.digest).toBe(digest);
    expect(csv).toContain(digest);
    for (const tag of [headers.get('etag'), response.headers.get('etag')]) expect(tag).toBe(`"${digest}"`);
    const unchanged = await fileOf(testKey, query, { 'if-none-match': `"${digest}"` });
    expect({ status: unchanged.status, text: await unchanged.text() }).toEqual({ status: 304, text: '' });
    await partner.pay({ qr_url: newLink(10_000) });
    expect((await fileOf(testKey, query, { 'if-none-match': `"${digest}"` })).status).toBe(200);
  });

  test('is of the mode of the key', async () => {
    const { testKey, liveKey } = await newCustomer();
    await partnerAt(address, testKey).pay({ qr_url: newLink(10_000) });
    const live = (await partnerAt(address, liveKey).get(`/v1/statement?day=${today()}`)).json;
    expect(live.entries).toMatchObject([{ reference: 'funding' }]);
    expect(live).toMatchObject({ mode: 'live', closing: { available_usdt: '1000.000000' } });
  });

  test('is empty before there was a partner, and does not exist before its day', async ({ testKey }) => {
    const partner = partnerAt(address, testKey);
    const early = (await partner.get('/v1/statement?day=1999-01-01')).json;
    expect(early).toMatchObject({ closed: true, entries: [], open_holds: [] });
    expect(early.opening).toEqual(early.closing);
    expect(early.closing.available_usdt).toBe('0.000000');
    const tomorrow = new Date(clock.nowMs() + dayMs).toISOString().slice(0, 10);
    expect(codeOf(await partner.get(`/v1/statement?day=${tomorrow}`))).toBe('400 invalid_request');
  });

  const malformed = [
    '',
    'day=',
    'day=2026-02-30',
    'day=15.11.2026',
    'day=2026-11-15&format=xml',
    'day=a&day=b',
  ];
  test.each(malformed)('refuses %j', async query => {
    const { testKey } = await newCustomer();
    expect((await partnerAt(address, testKey).get(`/v1/statement?${query}`)).status).toBe(422);
  });
});
