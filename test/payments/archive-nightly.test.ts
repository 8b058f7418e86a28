import { expect, test, vi } from 'vitest';
import { createAlarms, listAlarms } from '../../src/alarms/index.ts';
import { type NightlyArchiveDeps, startNightlyArchive } from '../../src/payments/archive/nightly.ts';
import { createDatabase } from '../helpers/database.ts';
import { createPast } from './archive-world.ts';

const paymentsOfMonth = 6;

/** A partner with payments of January and February 2026. It is the evening of 2 March; January is closed from 4 March on. */
async function createWorld(settings: Partial<NightlyArchiveDeps> = {}) {
  const { pool } = await createDatabase();
  const past = await createPast(pool);
  const partnerId = await past.newPartner();
  for (let nth = 0; nth < paymentsOfMonth; nth++) await past.pay(partnerId);
  past.at('2026-02-20T10:00:00Z');
  for (let nth = 0; nth < paymentsOfMonth; nth++) await past.pay(partnerId);
  past.at('2026-03-02T22:30:00Z');

  const lines: { message: string; details: object }[] = [];
  const note = (details: object, message: string) => void lines.push({ message, details });
  const log = { info: vi.fn(note), error: vi.fn(note), warn: () => {} };
  const { clock } = past;
  const alarms = createAlarms({ db: pool, clock, log });
  const deps: NightlyArchiveDeps = {
    ...{ pool, clock, alarms, log, archiveAfterMonths: 1, databaseUrl: undefined, ...settings },
  };
  let running = 0;
  const start = async (changes: Partial<NightlyArchiveDeps> = {}) => {
    const stop = startNightlyArchive({ ...deps, ...changes });
    running++;
    await clock.sleeping(() => running);
    return async () => {
      running--;
      await stop();
    };
  };
  /** It is this time, and who has slept until then has done its work. */
  const until = async (iso: string) => {
    await past.at(iso);
    await clock.sleeping(() => running);
  };
  const archived = async () => (await past.rowsOf(partnerId)).archived[0];
  const messages = () => lines.splice(0).map(({ message }) => message);
  const runs = async () =>
    (await pool.query("SELECT actor, subject, after FROM audit WHERE action = 'archive.move' ORDER BY id"))
      .rows;
  return { pool, past, partnerId, deps, lines, log, start, until, archived, messages, runs };
}

test('months that are due go at night, and once', async () => {
  const { pool, past, partnerId, lines, messages, start, until, archived, runs } = await createWorld();
  const connect = vi.spyOn(pool, 'connect');
  const stop = await start();
  await until('2026-03-02T23:30:00Z');
  await until('2026-03-03T00:59:59.999Z');
  expect(connect).not.toHaveBeenCalled();
  await until('2026-03-03T01:00:00Z');
  expect([await archived(), messages()]).toEqual([0, []]);
  await until('2026-03-04T01:00:00Z');
  expect(await archived()).toBe(paymentsOfMonth);
  // With the grant and the credit of the account.
  const counts = { payments: paymentsOfMonth, events: paymentsOfMonth, entries: 2 * paymentsOfMonth + 2 };
  const begun = { before: '2026-02', rows: counts.payments + counts.entries };
  expect(lines.map(({ message, details }) => [message, details])).toEqual([
    ['archiving has begun', begun],
    ['months were archived', { before: '2026-02', months: ['2026-01'], ...counts }],
  ]);
  expect(await runs()).toEqual([{ actor: 'kopeck', subject: '2026-02', after: { rows: begun.rows } }]);
  expect(await past.findings()).toEqual([]);
  messages();

  connect.mockClear();
  await until('2026-03-05T00:59:59.999Z');
  expect(connect).not.toHaveBeenCalled();
  await until('2026-03-05T01:00:00Z');
  expect(connect).toHaveBeenCalled();
  expect([messages(), (await runs()).length]).toEqual([[], 1]);

  await until('2026-03-31T01:00:00Z');
  expect(await archived()).toBe(paymentsOfMonth);
  await until('2026-04-01T01:00:00Z');
  expect(await past.rowsOf(partnerId)).toMatchObject({ live: [0, 0, 0] });
  await stop();
});

test('of several processes one runs', async () => {
  const { log, messages, past, start, until, archived, runs } = await createWorld({ batchSize: 1 });
  const stops = [await start(), await start(), await start()];
  await until('2026-03-10T01:00:00Z');
  expect(await archived()).toBe(paymentsOfMonth);
  expect(messages()).toEqual(['archiving has begun', 'months were archived']);
  expect(log.error).not.toHaveBeenCalled();
  expect(await runs()).toHaveLength(1);
  expect(await past.findings()).toEqual([]);
  await Promise.all(stops.map(stop => stop()));
});

test('a shutdown stops it after a batch, and the next run goes on', async () => {
  const world = await createWorld({ batchSize: 1 });
  const { log, messages, past, start, until, archived } = world;
  let stopped: Promise<void> | undefined;
  const stop = await start();
  log.info.mockImplementationOnce((_details, message) => {
    expect(message).toBe('archiving has begun');
    stopped = stop();
  });
  await until('2026-03-10T01:00:00Z');
  await stopped;
  expect(await archived()).toBe(1);
  expect(messages()).toEqual(['archiving was stopped: the next run goes on']);
  expect(await past.findings()).toEqual([]);

  const stopNext = await start();
  await until('2026-03-11T01:00:00Z');
  expect(await archived()).toBe(paymentsOfMonth);
  expect(log.error).not.toHaveBeenCalled();
  expect(await past.findings()).toEqual([]);
  await stopNext();
});

test('by default, the embedded server archives when it has many payments', async () => {
  const { pool, start, until, archived } = await createWorld({ archiveAfterMonths: undefined });
  const stored = 2 * paymentsOfMonth;
  const nights: [string, Partial<NightlyArchiveDeps>, number | undefined][] = [
    ['2026-05-01T01:00:00Z', {}, 0],
    ['2026-05-02T01:00:00Z', { manyPayments: stored }, 0],
    ['2026-05-03T01:00:00Z', { manyPayments: stored - 1 }, paymentsOfMonth],
    // What was archived is still stored.
    ['2026-06-01T01:00:00Z', { manyPayments: stored - 1 }, stored],
  ];
  for (const [night, settings, expected] of nights) {
    await pool.query('ANALYZE payments');
    const stop = await start(settings);
    await until(night);
    expect([night, await archived()]).toEqual([night, expected]);
    await stop();
  }
});

test.each<[string, Partial<NightlyArchiveDeps>, lastNight: string, firstNight: string]>([
  [
    'by default, another server than the embedded one archives',
    { archiveAfterMonths: undefined, databaseUrl: 'postgresql://host/pay' },
    '2026-04-30T01:00:00Z',
    '2026-05-01T01:00:00Z',
  ],
  [
    'as many whole months stay as the setting says',
    { archiveAfterMonths: 2 },
    '2026-03-31T01:00:00Z',
    '2026-04-01T01:00:00Z',
  ],
])('%s', async (_what, settings, lastNight, firstNight) => {
  const { past, partnerId, start, until } = await createWorld(settings);
  const stop = await start();
  await until(lastNight);
  expect((await past.rowsOf(partnerId)).archived).toEqual([0, 0, 0]);
  await until(firstNight);
  const left = [paymentsOfMonth, paymentsOfMonth, 2 * paymentsOfMonth];
  expect(await past.rowsOf(partnerId)).toEqual({
    live: left,
    archived: [paymentsOfMonth, paymentsOfMonth, 2 * paymentsOfMonth + 2],
  });
  await stop();
});

test('with 0 it never runs', async () => {
  const { pool, deps, until } = await createWorld({
    archiveAfterMonths: 0,
    databaseUrl: 'postgresql://host/pay',
  });
  const connect = vi.spyOn(pool, 'connect');
  const stop = startNightlyArchive(deps);
  await until('2026-05-01T01:00:00Z');
  await stop();
  expect(connect).not.toHaveBeenCalled();
});

test('a failure raises an alarm, which the next good run clears', async () => {
  const { pool, past, log, messages, start, until, archived } = await createWorld();
  const alarms = async () =>
    (await listAlarms(pool, { cleared: false })).map(({ kind, subject, detail }) => [kind, subject, detail]);
  await pool.query('CREATE TABLE payments_archive_2026_01 ()');
  const stop = await start();
  await until('2026-03-10T01:00:00Z');
  expect(messages()).toEqual(['archiving failed']);
  expect(await alarms()).toEqual([
    [
      'archive_failed',
      'archive',
      'The nightly archive run failed: relation "payments_archive_2026_01" already exists. No row is lost, and the run is repeated every hour. If it keeps failing, correct the cause: until then the live tables grow.',
    ],
  ]);
  expect(await archived()).toBe(0);
  await pool.query('DROP TABLE payments_archive_2026_01');
  await until('2026-03-10T01:59:59Z');
  expect(await alarms()).toHaveLength(1);
  await until('2026-03-10T02:00:00Z');
  expect(await alarms()).toEqual([]);
  expect(await archived()).toBe(paymentsOfMonth);
  expect(log.error).toHaveBeenCalledTimes(1);
  expect(await past.findings()).toEqual([]);
  await stop();
});
