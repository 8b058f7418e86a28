import { beforeAll, expect, test } from 'vitest';
import { setRate } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { refusal, startConsole } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
const clock = manualClock();
const { signIn } = await startConsole({ pool, clock });
let finance: Awaited<ReturnType<typeof signIn>>;
const rules = { spread_bps: 100, band_percent: 5, jump_percent: 10 };

beforeAll(async () => {
  finance = await signIn('finance');
});

test('without a rate the page is empty', async () => {
  expect((await finance.get('/rates')).json).toEqual({
    now: null,
    rules: { version: 0, ...rules, set_by: null, set_at: null, reason: null },
    history: [],
    changes: [],
  });
  const whatIf = await finance.post('/rates/what-if', { ...rules, amount_rub: '100' });
  expect(whatIf.json).toMatchObject({ rate: null, rate_now: null });
});

test('the rate, its sources and its history', async () => {
  await setRate(pool, clock, '92.5');
  clock.advance(60_000);
  await setRate(pool, clock, '93');
  clock.advance(10_000);
  const { json } = await finance.get('/rates?hours=1');
  expect(json.now).toMatchObject({ rate: '93.0000', age_sec: 10, max_age_sec: 300, stale: false });
  expect(json.now.sources).toMatchObject([
    { source: 'fixed', outcome: 'used', mid: '93.0000', reason: null },
  ]);
  expect(json.history.map(({ rate }: { rate: string }) => rate)).toEqual(['92.5000', '93.0000']);
});

test('what-if computes a rate and changes nothing', async () => {
  const { json } = await finance.post('/rates/what-if', { ...rules, spread_bps: 1_000, amount_rub: '93' });
  expect(json).toMatchObject({
    rate: '83.7000',
    mid: '93.0000',
    amount_usdt: '1.111112',
    rate_now: '93.0000',
    amount_usdt_now: '1.000000',
    alarms: [],
  });
  expect((await finance.get('/rates')).json.rules.version).toBe(0);
});

test('rules change with a reason, if the version is current', async () => {
  const change = (fields: object) =>
    finance.post('/rates/rules', { ...rules, reason: 'a calm market', expected_version: 0, ...fields });
  expect((await change({ band_percent: 2.5 })).json).toMatchObject({
    version: 1,
    band_percent: 2.5,
    set_by: `operator:${finance.name}`,
    reason: 'a calm market',
  });
  expect(await change({ band_percent: 3 })).toMatchObject(refusal(409, 'stale'));
  for (const wrong of [
    { reason: '' },
    { reason: '   ' },
    { reason: 'two\nlines' },
    { spread_bps: 5_001 },
    { spread_bps: 1.5 },
    { band_percent: 0 },
    { x: 1 },
  ])
    expect((await change(wrong)).status).toBe(422);
  const { changes, rules: now } = (await finance.get('/rates')).json;
  expect(changes).toEqual([now]);
  const { rows } = await pool.query(`SELECT actor, after FROM audit WHERE action = 'rate.rules'`);
  expect(rows).toMatchObject([
    { actor: `operator:${finance.name}`, after: { band_percent: 2.5, reason: 'a calm market' } },
  ]);
});
