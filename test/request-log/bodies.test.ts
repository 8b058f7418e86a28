import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { setBodyLog } from '../../src/partners/index.ts';
import { maxLoggedBytes, redacted } from '../../src/request-log/bodies.ts';
import { findBodies, pruneRequestLog } from '../../src/request-log/index.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { answered, startLog } from './requests.ts';

const { pool } = await createDatabase();
await setRate(pool);

/** Its statements have all the time that a busy machine needs. */
const patient: Queryable = {
  query: statement => pool.query(Object.assign(statement, { query_timeout: 60_000 })),
};

/** The service with a log whose statements are counted. */
async function startLogged() {
  const texts: string[] = [];
  const db: Queryable = {
    query: statement => {
      texts.push((statement as { text: string }).text.trim().split(/\s+\(/, 1)[0]!);
      return patient.query(statement);
    },
  };
  const { log } = startLog({ db, clock: manualClock() });
  const recorded: Parameters<typeof log.record>[0][] = [];
  const record = (one: (typeof recorded)[0]) => {
    recorded.push(one);
    log.record(one);
  };
  const { address } = await startApi({ pool, requestLog: { ...log, record } });
  const shop = await createPartnerWithKeys(pool);
  return { shop, log, texts, recorded, partner: partnerAt(address, shop.testKey) };
}

const metadata = { till: '7' };

test('bodies are kept of a partner that asked for it, until the end, and cost nobody else anything', async () => {
  const { shop, partner, log, texts, recorded } = await startLogged();
  const pay = async () =>
    (await partner.pay({ qr_url: newLink(15_000), metadata: { ...metadata, note: shop.testKey } })).json;
  await pay();
  expect(recorded.at(-1)!.bodies).toBeUndefined();
  const audit = auditContextOf(pool);
  await setBodyLog(audit, shop.partnerId, 'hour');
  // Processes hear of it as of every change of access.
  const isKept = () => recorded.at(-1)!.bodies !== undefined;
  await expect.poll(() => pay().then(isKept)).toBe(true);
  const payment = await pay();
  const { requestId } = recorded.at(-1)!;
  await setBodyLog(audit, shop.partnerId, 'off');
  await expect.poll(() => partner.get('/v1/balance').then(isKept)).toBe(false);
  await log.stop();
  expect(texts).toContain('INSERT INTO api_request_bodies');

  expect(await findBodies(pool, shop.partnerId, recorded.at(-1)!.requestId)).toBeUndefined();
  const kept = (await findBodies(pool, shop.partnerId, requestId))!;
  expect(JSON.parse(kept.requestBody!).metadata).toEqual({ ...metadata, note: 'svc_test_…' });
  expect(JSON.parse(kept.responseBody!)).toMatchObject({ recipient: '…', metadata: { note: 'svc_test_…' } });
  expect(payment.recipient).toBe('Test recipient');
  const secret = shop.testKey.slice(-48);
  const { rows } = await pool.query('SELECT FROM api_request_bodies b WHERE strpos(b::text, $1) > 0', [
    secret,
  ]);
  expect(rows).toHaveLength(0);
});

test('without a partner that asked for it there is one statement, as ever', async () => {
  const { partner, log, texts } = await startLogged();
  await partner.pay({ qr_url: newLink(15_000) });
  await log.stop();
  expect(texts).toEqual(['INSERT INTO api_requests']);
});

test.each([
  [`{"a":"svc_live_7f3a9c21b0d4_${'ab'.repeat(24)}"}`, '{"a":"svc_live_…"}'],
  [`SVC_TEST_7F3A9C21B0D4_${'AB'.repeat(24)}`, 'SVC_TEST_…'],
  ['{"s":"whsec_YW4gZXhhbXBsZSBv/+=="}', '{"s":"whsec_…"}'],
  [
    `{"a":"svc\\u005ftest\\u005f7f3a9c21b0d4\\u005f${'0a'.repeat(24)}"}`,
    '{"a":"svc\\u005ftest\\u005f7f3a9c21b0d4\\u…"}',
  ],
  [`{"tx_hash":"${'0a'.repeat(32)}"}`, `{"tx_hash":"${'0a'.repeat(32)}"}`],
  ['{"recipient" : "ИП \\"Иванов\\"","recipient_share":1}', '{"recipient" : "…","recipient_share":1}'],
  ['not JSON \0', 'not JSON \ufffd'],
])('%s is stored as %s', (body, stored) => {
  expect(redacted(body)).toBe(stored);
  expect(redacted(Buffer.from(body))).toBe(stored);
});

test('a long body is cut, and a key at the cut is not left in part', () => {
  const secret = '0f'.repeat(24);
  const key = `svc_test_7f3a9c21b0d4_${secret}`;
  for (const end of [key, secret])
    for (const before of [-300, -256, -230, -10, 0, 10, 40, 75])
      for (const keys of ['', `${key} `.repeat(20)]) {
        const text = `${keys}${'x'.repeat(maxLoggedBytes - before - keys.length)}${end}${'y'.repeat(500)}`;
        for (const stored of [redacted(text)!, redacted(Buffer.from(text))!]) {
          expect(stored).not.toMatch(/0f0f|7f3a9c/);
          expect(stored.length).toBeGreaterThan(maxLoggedBytes - 2_000);
          expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(maxLoggedBytes + 3);
        }
      }
});

test('a long answer is cut, and a long name of a recipient at the cut is not left in part', () => {
  const answer = (before: number, name: string) =>
    `${'x'.repeat(maxLoggedBytes - before)}{"recipient":${JSON.stringify(name)}}${'y'.repeat(4_000)}`;
  for (const name of ['Z'.repeat(500), 'Z"'.repeat(250)])
    for (const before of [-100, 0, 1, 100, 300, 700]) {
      const text = answer(before, name);
      for (const stored of [redacted(text)!, redacted(Buffer.from(text))!]) expect(stored).not.toContain('Z');
    }
});

test('bodies are bounded: the request is in the log, its bodies are not', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const { log } = startLog({ db: patient, clock: manualClock() });
  const keyHolder = { partnerId, mode: 'test', keyId: '7f3a9c21b0d4' } as const;
  const bodies = { sent: undefined, answered: 'x'.repeat(maxLoggedBytes) };
  const sent = Array.from({ length: 70 }, () => answered({ keyHolder, bodies }));
  for (const request of [...sent, answered({ keyHolder, bodies, isAdmitted: false })]) log.record(request);
  await log.stop();
  const { rows } = await pool.query(
    `SELECT (SELECT count(*)::int FROM api_requests WHERE partner_id = $1) AS requests,
            (SELECT count(*)::int FROM api_request_bodies WHERE partner_id = $1) AS bodies`,
    [uuidFromId(partnerId)],
  );
  expect(rows).toEqual([{ requests: 71, bodies: 64 }]);
});

test('bodies go after seven days, however long the log is kept', async () => {
  const insert = (table: string, days: number) =>
    pool.query(
      `INSERT INTO ${table} (request_id, at, ${table === 'api_requests' ? 'status, duration_ms' : 'partner_id'})
       SELECT gen_random_uuid(), now() - make_interval(days => $1), ${table === 'api_requests' ? '299, 1' : 'gen_random_uuid()'}`,
      [days],
    );
  for (const days of [6, 9])
    for (const table of ['api_requests', 'api_request_bodies']) await insert(table, days);
  await pruneRequestLog(pool, systemClock, 90);
  const old = async (table: string) =>
    (await pool.query(`SELECT count(*)::int AS count FROM ${table} WHERE at < now() - interval '5 days'`))
      .rows[0].count;
  expect(await old('api_requests')).toBe(2);
  expect(await old('api_request_bodies')).toBe(1);
});
