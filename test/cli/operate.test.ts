import { test as base, beforeAll, describe, expect } from 'vitest';
import { createAlarms } from '../../src/alarms/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { folderWithKey } from '../helpers/folders.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';
import { commandLineOf } from './command-line.ts';

const { pool, url } = await createDatabase();
const simulator = await startSimulator();
const { address } = await startApi({ pool, gatewayUrl: simulator.address, answerWithinMs: 0 });
const customer = await createPartnerWithKeys(pool);
const partner = partnerAt(address, customer.liveKey);
const { run, runJson, expectRefusal } = commandLineOf({ DATABASE_URL: url, DATA_DIR: folderWithKey() });
beforeAll(() => setRate(pool));

async function unfinished(): Promise<string> {
  const qr = await makeQr(simulator);
  await qr.fault({ on: 'pay', kind: 'finish_later', ms: 86_400_000, outcome: 'succeeded' });
  return (await partner.pay({ qr_url: qr.link, external_id: 'order 7', metadata: { table: 4 } })).json.id;
}
const unknownPayment = 'pay_01h00000000000000000000000';
const test = base.extend('id', () => unfinished());

describe('payment show', () => {
  test('for people and for machines, live or test, finished or not', async ({ id }) => {
    const people = (await run(`payment show ${id}`)).stdout;
    expect(people).toMatch(new RegExp(`^payment +${id}\\npartner +${customer.partnerId} \\(live\\)\\n`));
    expect(people).toMatch(/\nstatus +processing, awaiting_gateway\n.*\nnext poll \(UTC\) +\d{4}-/s);
    const machines = await runJson(`payment show ${id}`);
    expect(machines).toMatchObject({ gateway_order_id: expect.any(String), partner_id: customer.partnerId });
    expect(machines).toMatchObject((await partner.get(`/v1/payments/${id}`)).json);

    const tester = partnerAt(address, customer.testKey);
    const done = (await tester.pay({ qr_url: newLink(10_001) })).json.id;
    const shown = (await run('payment show', done)).stdout;
    expect(shown).toMatch(/status +failed, gateway_declined, gateway_declined\n/);
    expect(shown).not.toContain('next poll');
  });

  test.each([unknownPayment, 'pay_x', "'; DROP TABLE payments"])('there is no %s', async id => {
    await expectRefusal(1, /^There is no payment .*\n$/, 'payment show', id);
  });
});

describe('payment list', () => {
  test('finds payments by external_id, partner, mode and status, newest first', async () => {
    const shop = await createPartnerWithKeys(pool);
    const tester = partnerAt(address, shop.testKey);
    const pay = async (kopecks: number, external_id: string) =>
      (await tester.pay({ qr_url: newLink(kopecks), external_id })).json.id as string;
    const ids = [await pay(10_000, 'order 8'), await pay(10_001, 'order 9'), await pay(10_000, 'order 9')];
    const find = async (...args: string[]) =>
      JSON.parse((await run('payment list --json', ...args)).stdout).payments.map(
        ({ id }: { id: string }) => id,
      );
    expect(await find('--partner', shop.partnerId)).toEqual(ids.toReversed());
    expect(await find('--partner', shop.partnerId, '--limit', '2')).toEqual([ids[2], ids[1]]);
    expect(await find('--external-id', 'order 9')).toEqual([ids[2], ids[1]]);
    expect(await find('--partner', shop.partnerId, '--status', 'failed')).toEqual([ids[1]]);
    expect(await find('--partner', shop.partnerId, '--mode', 'live')).toEqual([]);
    const { stdout } = await run('payment list --external-id', 'order 8');
    expect(stdout).toMatch(/^payment +created \(UTC\) +partner +mode +status +RUB +USDT +external_id\n/);
    expect(stdout).toContain(ids[0]);
    expect(stdout).toMatch(/ test +succeeded +100\.00 +\d+\.\d{6} +order 8\n$/);
  });

  test.each([
    ['--status', 'paid'],
    ['--limit', '1001'],
  ])('refuses %s %s', async (...args) => {
    await expectRefusal(2, new RegExp(args[0]), 'payment list', ...args);
  });
});

describe('payment ask', () => {
  test('makes an unfinished live payment due now, with an audit record', async ({ id }) => {
    const nextPoll = async () => (await runJson(`payment show ${id}`)).next_poll_at;
    await pool.query(`UPDATE open_payments SET next_at = now() + interval '1 hour', lease_holder = NULL`);
    const { code, stdout } = await run(`payment ask ${id}`);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`is polled for ${id} now`)]);
    expect(Date.parse(await nextPoll())).toBeLessThanOrEqual(Date.now());
    const { rows } = await pool.query('SELECT action FROM audit WHERE subject = $1', [id]);
    expect(rows).toEqual([{ action: 'payment.ask' }]);
  });

  test('refused while the payment is leased, has ended or is in test mode', async () => {
    const refusalOf = async (id: string) => {
      const { code, stderr } = await run(`payment ask ${id} --json`);
      return [code, JSON.parse(stderr).error.code];
    };
    const id = await unfinished();
    await pool.query('UPDATE open_payments SET lease_holder = 77');
    expect(await refusalOf(id)).toEqual([1, 'under_way']);
    await pool.query('UPDATE open_payments SET lease_holder = NULL');
    await run(`payment resolve ${id} --outcome failed --reason r`);
    expect(await refusalOf(id)).toEqual([1, 'already_ended']);
    const tested = (await partnerAt(address, customer.testKey).pay({ qr_url: newLink(10_000) })).json.id;
    expect(await refusalOf(tested)).toEqual([1, 'test_mode']);
    expect(await refusalOf(unknownPayment)).toEqual([1, 'no_payment']);
  });
});

describe('payment resolve', () => {
  const resolve = (id: string, outcome: string, ...args: string[]) =>
    run(`payment resolve ${id} --outcome`, outcome, ...args);
  const audited = async (id: string) =>
    (await pool.query('SELECT before, after FROM audit WHERE subject = $1', [id])).rows;

  test.each([
    ['succeeded', null],
    ['failed', 'gateway_declined'],
  ])('%s, once, with its reason in the audit', async (outcome, code) => {
    const id = await unfinished();
    const before = (await partner.get('/v1/balance')).json.balance_usdt;
    const { stdout, ...done } = await resolve(id, outcome, '--reason', 'seen on the statement', '--json');
    expect(done).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ id, status: outcome });
    expect((await partner.get(`/v1/payments/${id}`)).json).toMatchObject({
      status: outcome,
      error: code && { code },
    });
    const after = (await partner.get('/v1/balance')).json.balance_usdt;
    expect(Number(after) - Number(before)).toBeCloseTo(outcome === 'failed' ? 1.621622 : 0, 6);
    const record = {
      before: { status: 'processing', statusDetail: 'awaiting_gateway' },
      after: { status: outcome, reason: 'seen on the statement', mode: 'live', amount_kopecks: '15000' },
    };
    expect(await audited(id)).toEqual([record]);

    for (const again of ['succeeded', 'failed']) {
      const refused = await resolve(id, again, '--reason', 'second thoughts', '--json');
      expect([refused.code, JSON.parse(refused.stderr).error.code]).toEqual([1, 'already_ended']);
    }
    expect(await audited(id)).toEqual([record]);
    expect((await partner.get('/v1/balance')).json.balance_usdt).toBe(after);
  });

  test('needs an outcome, a reason and a payment', async ({ id }) => {
    expect((await run(`payment resolve ${id} --reason r`)).code).toBe(2);
    expect((await resolve(id, 'succeeded')).code).toBe(2);
    expect((await resolve(id, 'processing', '--reason', 'r')).code).toBe(2);
    expect((await resolve(id, 'failed', '--reason', ' ')).code).toBe(2);
    expect(await resolve(unknownPayment, 'failed', '--reason', 'r')).toMatchObject({ code: 1, stdout: '' });
    expect((await partner.get(`/v1/payments/${id}`)).json.status).toBe('processing');
  });
});

test('alarm list and clear', async () => {
  const alarms = createAlarms({ db: pool, clock: systemClock, log: { warn: () => {} } });
  expect((await run('alarm list')).stdout).toBe('(none)\n');
  await alarms.raise({ kind: 'payment_overdue', subject: unknownPayment, detail: 'Look.' });
  expect((await run('alarm list')).stdout).toMatch(/^alarm .*\n─.*\n1 +payment_overdue +pay_01h/);
  expect(await run('alarm clear 1')).toEqual({ code: 0, stdout: 'Alarm 1 is cleared.\n', stderr: '' });
  expect(await run('alarm clear 1')).toMatchObject({ code: 1, stdout: '' });
  expect(await runJson('alarm list')).toEqual({ alarms: [] });
  expect((await runJson('alarm list --all')).alarms).toMatchObject([
    { alarm_id: 1, kind: 'payment_overdue', times: 1, cleared_by: expect.stringMatching(/^cli:/) },
  ]);
});
