import { expect, test, vi } from 'vitest';
import {
  alarmGauges,
  alarmObject,
  clearAlarm,
  createAlarms,
  listAlarms,
  parseAlarmId,
} from '../../src/alarms/index.ts';
import { auditContextOf, createTimedDatabase } from '../helpers/database.ts';
import { readGauges } from '../helpers/gauges.ts';

const { pool, clock } = await createTimedDatabase();
const warn = vi.fn();
const alarms = createAlarms({ db: pool, clock, log: { warn } });
const openOnes = async () =>
  (await listAlarms(pool, { cleared: false })).map(({ kind, subject, times }) => [kind, subject, times]);

test('the same alarm again is counted and not repeated', async () => {
  const alarm = { kind: 'late', subject: 'pay_1', detail: 'first' };
  await Promise.all([1, 2, 3].map(() => alarms.raise(alarm)));
  clock.advance(1_000);
  await alarms.raise({ ...alarm, detail: 'now' });
  await alarms.raise({ ...alarm, subject: 'pay_2' });
  const [second, first] = await listAlarms(pool, { cleared: false });
  expect(first).toMatchObject({ times: 4, detail: 'now', lastAt: new Date(clock.nowMs()) });
  expect(first!.firstAt.getTime()).toBe(clock.nowMs() - 1_000);
  expect(second).toMatchObject({ subject: 'pay_2', times: 1 });
  expect(warn.mock.calls.map(([{ subject }]) => subject)).toEqual(['pay_1', 'pay_2']);
  expect(await readGauges(pool, alarmGauges)).toEqual(['kopeck_alarms_open{kind="late"} 2']);
});

test('over by itself or by an operator, and then new again', async () => {
  await alarms.clear('late', 'pay_1');
  const [second] = await listAlarms(pool, { cleared: false });
  expect(await clearAlarm(auditContextOf(pool, clock), second!.alarmId)).toBe('cleared');
  expect(await clearAlarm(auditContextOf(pool, clock), second!.alarmId)).toBe('no_alarm');
  expect(await openOnes()).toEqual([]);
  expect((await listAlarms(pool, { cleared: true })).map(({ clearedBy }) => clearedBy)).toEqual([
    'test',
    'kopeck',
  ]);
  const { rows } = await pool.query(`SELECT actor, subject FROM audit WHERE action = 'alarm.clear'`);
  expect(rows).toEqual([{ actor: 'test', subject: `${second!.alarmId}` }]);
  await alarms.raise({ kind: 'late', subject: 'pay_1', detail: 'again' });
  expect(await openOnes()).toEqual([['late', 'pay_1', 1]]);
  await alarms.clear('late', 'pay_1');
});

test('a report is all that is wrong with its subject', async () => {
  const [a, b] = [
    { kind: 'a', detail: '' },
    { kind: 'b', detail: '' },
  ];
  await alarms.raise({ kind: 'a', subject: 'other', detail: '' });
  await alarms.report('rate', [a, b]);
  await alarms.report('rate', [b]);
  expect(await openOnes()).toEqual([
    ['b', 'rate', 2],
    ['a', 'other', 1],
  ]);
  await alarms.report('rate', []);
  expect(await openOnes()).toEqual([['a', 'other', 1]]);
});

test('without a database the alarm is logged, and nothing throws', async () => {
  const log = { warn: vi.fn() };
  const db = { query: () => Promise.reject(new Error('gone')) };
  const helpless = createAlarms({ db, clock, log });
  await helpless.raise({ kind: 'late', subject: 'pay_9', detail: 'd' });
  await helpless.report('rate', []);
  await helpless.clear('late', 'pay_9');
  expect(log.warn.mock.calls[0]).toEqual([
    { kind: 'late', subject: 'pay_9', detail: 'd', err: expect.any(Error) },
    'an alarm could not be stored',
  ]);
});

test('an alarm is one JSON object for all who show it, and its id is a number everywhere', async () => {
  await alarms.raise({ kind: 'late', subject: 'pay_3', detail: 'd' });
  const [stored] = await listAlarms(pool, { cleared: false });
  const at = new Date(clock.nowMs()).toISOString();
  expect(alarmObject(stored!)).toEqual({
    alarm_id: expect.any(Number),
    kind: 'late',
    subject: 'pay_3',
    detail: 'd',
    first_at: at,
    last_at: at,
    times: 1,
    cleared_at: null,
    cleared_by: null,
  });
  expect(parseAlarmId(`${stored!.alarmId}`)).toBe(stored!.alarmId);
  for (const text of ['', '-1', '1.5', '1e3', 'x', '9'.repeat(16)])
    expect(parseAlarmId(text)).toBeUndefined();
});
