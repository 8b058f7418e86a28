import { describe, expect, test } from 'vitest';
import { createAlarms } from '../../src/alarms/index.ts';
import { answers, startConsole } from '../helpers/console.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { countWaiting } from '../helpers/locks.ts';
import { startSimulator } from '../helpers/simulator.ts';

const { pool, sql, clock } = await createTimedDatabase('2026-11-20T12:00:00Z');
const bank = await startSimulator();
const { signIn } = await startConsole({ pool, clock, gatewayUrl: bank.address });
let admin = await signIn('admin');

const lastAudit = async () =>
  (await sql`SELECT actor, action, subject FROM audit ORDER BY id DESC LIMIT 1`)[0];
const by = () => `operator:${admin.name}`;
const done = { outcome: 'done' };

test('recipients are blocked and unblocked, with audit records', async () => {
  expect((await admin.post('/recipients/block', { recipient: ' ООО  Ромашка ' })).json).toEqual(done);
  expect(await lastAudit()).toEqual({ actor: by(), action: 'recipient.block', subject: 'ооо ромашка' });
  expect((await admin.get('/recipients')).json.data).toMatchObject([{ recipient: 'ооо ромашка' }]);
  await answers('409 already_blocked', admin.post('/recipients/block', { recipient: 'ооо РОМАШКА' }));
  await answers(422, admin.post('/recipients/block', { recipient: '' }));
  await answers('400 invalid_request', admin.post('/recipients/block', { recipient: 'a\nb' }));
  expect((await admin.post('/recipients/unblock', { recipient: 'ооо ромашка' })).json).toEqual(done);
  await answers('409 not_blocked', admin.post('/recipients/unblock', { recipient: 'ооо ромашка' }));
});

test('an alarm is cleared once, and shows who cleared it', async () => {
  const alarms = createAlarms({ db: pool, clock, log: { warn: () => {} } });
  await alarms.raise({ kind: 'rate_jump', subject: 'rate', detail: 'not taken' });
  const [alarm] = (await admin.get('/alarms')).json.data;
  const title = { en: 'Sharp rate change', ru: 'Резкое изменение курса' };
  expect(alarm).toMatchObject({ kind: 'rate_jump', title, times: 1, cleared_by: null });
  expect((await admin.get('/alarms/kinds')).json.data).toMatchObject({ rate_jump: title });
  expect((await admin.get('/overview')).json.alarms).toMatchObject([{ alarm_id: alarm.alarm_id }]);
  expect((await admin.post(`/alarms/${alarm.alarm_id}/clear`)).json).toEqual(done);
  expect(await lastAudit()).toMatchObject({ actor: by(), action: 'alarm.clear' });
  await answers('409 no_alarm', admin.post(`/alarms/${alarm.alarm_id}/clear`));
  expect((await admin.get('/alarms?state=open')).json.data).toEqual([]);
  expect((await admin.get('/alarms?state=cleared')).json.data).toMatchObject([{ cleared_by: by() }]);
});

const insertStray = (name: string, kopecks: number) =>
  sql`INSERT INTO stray_orders (payment, order_id, state, amount_kopecks, created_at, qrc_id, why, incarnation, found_at)
      VALUES ('pay_' || ${name}::text, ${name}, 'succeeded', ${kopecks}, now(), ${name}, 'unreadable', 2, now())`;
const insertRun = async (differences: object[], isComplete: boolean): Promise<number> =>
  (
    await sql`
      INSERT INTO reconciliations (actor, from_at, until_at, started_at, finished_at, orders, payments, differences, is_complete)
      VALUES ('kopeck', now(), now(), now(), now(), 1, 1, ${JSON.stringify(differences)}, ${isComplete}) RETURNING id`
  )[0].id;

test('what was recovered is shown, and an order without a payment is released once', async () => {
  expect((await admin.get('/recovery')).json).toEqual({ histories: [], recovered: [], stray: [] });
  await sql`INSERT INTO incarnations (number, system_identifier, timeline, cause, began_at, certain_at, is_synchronous,
                               last_event_id, next_event_id, opened_at)
     VALUES (1, '1', 1, 'first_start', now(), now(), false, 0, 1, now()),
            (2, '1', 2, 'promotion', now(), now(), false, 0, 1000001, now())`;
  await insertStray('x', 15_000);
  const shown = (await admin.get('/recovery')).json;
  expect(shown.histories).toMatchObject([{ incarnation: 2, cause: 'promotion', recovered_payments: 0 }]);
  expect(shown.stray).toMatchObject([{ order: 'pay_x', amount_rub: '150.00', why: 'unreadable' }]);
  const release = () => admin.post('/recovery/release', { order: 'pay_x', reason: 'known to the shop' });
  expect((await release()).json).toEqual({ outcome: 'done' });
  expect(await lastAudit()).toEqual({ actor: by(), action: 'recovery.release', subject: 'pay_x' });
  await answers('409 no_order', release());
  expect((await admin.get('/recovery')).json.stray).toEqual([]);
});

test('releasing a large order without a payment waits for a second operator', async () => {
  await insertStray('y', 500_000_000);
  const asked = await admin.post('/recovery/release', { order: 'pay_y', reason: 'known to the shop' });
  expect(asked.json).toMatchObject({
    outcome: 'waiting',
    request: { kind: 'release', subject: 'pay_y', amount_rub: '5000000.00', is_own: true },
  });
  expect((await admin.get('/recovery')).json.stray).toMatchObject([{ order: 'pay_y' }]);
  const second = await signIn('support');
  expect((await second.post(`/requests/${asked.json.request.request_id}/approve`)).json).toEqual({
    outcome: 'done',
  });
  expect((await admin.get('/recovery')).json.stray).toEqual([]);
});

describe('reconciliation', () => {
  test('an operator runs it for a day, and the run is stored', async () => {
    const run = (await admin.post('/reconciliations', { day: '2026-11-19' })).json;
    expect(run).toMatchObject({
      actor: by(),
      from: '2026-11-19T00:00:00.000Z',
      until: '2026-11-20T00:00:00.000Z',
      orders: 0,
      payments: 0,
      differences: 0,
      is_complete: true,
    });
    expect((await admin.get(`/reconciliations/${run.run_id}`)).json).toEqual({ run, differences: [] });
    const second = (await admin.post('/reconciliations', { day: '2026-11-18' })).json;
    const page = (await admin.get('/reconciliations?limit=1')).json;
    expect(page.data).toEqual([second]);
    expect((await admin.get(`/reconciliations?limit=1&after=${page.next_cursor}`)).json.data).toEqual([run]);
    await answers('404 not_found', admin.get('/reconciliations/99999'));
    await answers('400 invalid_request', admin.post('/reconciliations', { day: '2026-11-21' }));
    await answers('400 invalid_request', admin.post('/reconciliations', { day: '2026-02-31' }));
    await answers(422, admin.post('/reconciliations', { day: 'today' }));
  });

  test('a run that lists not all differences shows so, in the list and alone', async () => {
    const runId = await insertRun([], false);
    expect((await admin.get('/reconciliations?limit=1')).json.data).toMatchObject([{ is_complete: false }]);
    expect((await admin.get(`/reconciliations/${runId}`)).json.run).toMatchObject({ is_complete: false });
  });

  test('what is only unfinished is counted apart from what differs', async () => {
    const amounts = { payment_id: 'pay_1', amount_kopecks: 100, order_kopecks: 100 };
    const runId = await insertRun(
      [
        { kind: 'amounts_differ', order_state: 'succeeded', ...amounts },
        { kind: 'still_open', order_state: 'processing', ...amounts },
        { kind: 'still_open', order_state: null, ...amounts },
        // The gateway has paid it: more than unfinished.
        { kind: 'still_open', order_state: 'succeeded', ...amounts },
      ],
      true,
    );
    expect((await admin.get(`/reconciliations/${runId}`)).json.run).toMatchObject({
      differences: 4,
      unfinished: 2,
    });
  });

  test('differences are listed with their amounts; a second run at the same time is refused', async () => {
    const amounts = { amount_kopecks: 100, order_kopecks: null };
    await insertRun([{ kind: 'amounts_differ', payment_id: 'pay_x', ...amounts }], true);
    const [run] = (await admin.get('/reconciliations?limit=1')).json.data;
    expect((await admin.get(`/reconciliations/${run.run_id}`)).json.differences).toMatchObject([
      { kind: 'amounts_differ', amount_rub: '1.00', order_rub: null },
    ]);
    const blocker = await pool.connect();
    await blocker.query('BEGIN; LOCK TABLE reconciliations IN EXCLUSIVE MODE');
    const first = admin.post('/reconciliations', { day: '2026-11-19' });
    await expect.poll(() => countWaiting(pool)).toBeGreaterThan(0);
    await answers('409 already_running', admin.post('/reconciliations', { day: '2026-11-19' }));
    await blocker.query('COMMIT');
    blocker.release();
    await answers(200, first);
  });

  test('without a gateway it is refused as gateway_unavailable', async () => {
    const elsewhere = await startConsole({ pool, clock });
    const other = await elsewhere.signIn('finance');
    await answers('503 gateway_unavailable', other.post('/reconciliations', { day: '2026-11-19' }));
  });
});

describe('settings', () => {
  const settings = async () => (await admin.get('/settings')).json;

  test('maintenance starts and ends at once', async () => {
    for (const _ of [1, 2]) await admin.post('/settings/maintenance', { on: true });
    expect((await settings()).maintenance.on).toBe(true);
    expect(await lastAudit()).toMatchObject({ actor: by(), action: 'maintenance.on' });
    await admin.post('/settings/maintenance', { on: false });
    expect((await settings()).maintenance).toEqual({ on: false, windows: [] });
    const switched = await sql`SELECT action FROM audit WHERE action LIKE 'maintenance.o%' ORDER BY id`;
    expect(switched).toEqual([{ action: 'maintenance.on' }, { action: 'maintenance.off' }]);
    await answers(422, admin.post('/settings/maintenance', { on: 'yes' }));
  });

  test('planned maintenance starts by itself and can be cancelled', async () => {
    const plan = (from: string, until: string) => admin.post('/settings/maintenance/plan', { from, until });
    await plan('2026-11-20T13:00:00Z', '2026-11-20T14:00:00+00:00');
    const [window] = (await settings()).maintenance.windows;
    expect(window).toMatchObject({ from: '2026-11-20T13:00:00.000Z', planned_by: by() });
    clock.advance(3_600_000);
    admin = await signIn('admin');
    expect((await settings()).maintenance.on).toBe(true);
    const { window_id } = window;
    expect((await admin.post('/settings/maintenance/cancel', { window_id })).json).toEqual(done);
    expect((await settings()).maintenance.on).toBe(false);
    expect(await lastAudit()).toMatchObject({ actor: by(), action: 'maintenance.cancel' });
    await answers('409 no_window', admin.post('/settings/maintenance/cancel', { window_id }));
    await answers('400 until_before_from', plan('2026-11-20T15:00:00Z', '2026-11-20T14:00:00Z'));
    await answers('400 over_already', plan('2026-11-19T13:00:00Z', '2026-11-19T14:00:00Z'));
    await answers('400 invalid_request', plan('2026-13-40T13:00:00Z', '2026-11-19T14:00:00Z'));
    await answers(422, plan('tomorrow', 'later'));
  });

  test('thresholds are lowered at once, raised with an approval, and not changed from an outdated page', async () => {
    const { thresholds } = await settings();
    const set = (fields: object) =>
      admin.post('/settings/thresholds', {
        resolve_rub: thresholds.resolve_rub,
        credit_usdt: thresholds.credit_usdt,
        expected_version: thresholds.version,
        ...fields,
      });
    expect((await set({ resolve_rub: '5000' })).json).toEqual({ outcome: 'done' });
    expect(await lastAudit()).toMatchObject({ actor: by(), action: 'thresholds.set' });
    await answers('409 stale', set({ resolve_rub: '4000' }));
    const version = (await settings()).thresholds.version;
    expect((await set({ credit_usdt: '900000', expected_version: version })).json.outcome).toBe('waiting');
    expect((await settings()).requests).toMatchObject([
      { kind: 'thresholds', is_own: true, may_decide: false },
    ]);
  });
});
