import { describe, expect, test } from 'vitest';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { findRequest } from '../../src/request-log/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase, createPartnerWithKeys } from '../helpers/database.ts';
import { answered, startLog } from './requests.ts';

const { pool } = await createDatabase();

/** A clock whose pauses and timers end when the test says so. */
function steppedClock() {
  const clock = manualClock();
  const pauses: (() => void)[] = [];
  const timers: { ms: number; run(): void }[] = [];
  return {
    pauses,
    timers,
    clock: {
      ...clock,
      sleep: (_ms: number, signal?: AbortSignal) =>
        new Promise<void>(resolve => {
          pauses.push(resolve);
          signal?.addEventListener('abort', () => resolve());
        }),
      timer: (ms: number, run: () => void) => {
        timers.push({ ms, run });
        return () => {};
      },
    },
  };
}

/** A database whose statements end when the test says so. */
function steppedDatabase() {
  const statements: (() => void)[] = [];
  const db = {
    query: () => new Promise(resolve => statements.push(() => resolve({ rows: [] }))),
  } as unknown as Queryable;
  return { db, statements };
}

const recordMany = (log: ReturnType<typeof startLog>['log'], count: number) => {
  for (let nth = 0; nth < count; nth++) log.record(answered());
};

describe('requests are written', () => {
  test('once a second, however many arrive meanwhile; at once only if a whole batch waits', async () => {
    const { clock, pauses } = steppedClock();
    const { db, statements } = steppedDatabase();
    const { log } = startLog({ db, clock });
    await expect.poll(() => pauses.length).toBe(1);
    recordMany(log, 1);
    pauses[0]!();
    await expect.poll(() => statements.length).toBe(1);
    recordMany(log, 2);
    statements[0]!();
    await expect.poll(() => pauses.length).toBe(2);
    expect(statements).toHaveLength(1);

    recordMany(log, 1_500);
    pauses[1]!();
    await expect.poll(() => statements.length).toBe(2);
    statements[1]!();
    await expect.poll(() => statements.length).toBe(3);
    statements[2]!();
    await expect.poll(() => pauses.length).toBe(3);
    await log.stop();
    expect(statements).toHaveLength(3);
    expect(log.lost()).toEqual({ full: 0, failed: 0, limited: 0 });
  });

  test('at shutdown within 5 s, with the batch that is under way', async () => {
    const { clock, pauses, timers } = steppedClock();
    const { db, statements } = steppedDatabase();
    const { log } = startLog({ db, clock });
    await expect.poll(() => pauses.length).toBe(1);
    recordMany(log, 2_500);
    pauses[0]!();
    await expect.poll(() => statements.length).toBe(1);
    const stopped = log.stop();
    clock.advance(3_000);
    statements[0]!();
    await expect.poll(() => statements.length).toBe(2);
    expect(timers.map(({ ms }) => ms)).toEqual([4_000, 2_000]);
    clock.advance(2_000);
    timers[1]!.run();
    await stopped;
    expect(statements).toHaveLength(2);
    expect(log.lost().failed).toBe(1_500);
  });
});

test('what is stored is settled when the request is recorded, so that no URL waits in memory', async () => {
  const { log } = startLog({ db: pool, clock: steppedClock().clock });
  const request = answered({ route: undefined, url: '/v1/ping/x' });
  log.record(request);
  request.url = '/v1/rate';
  await log.stop();
  expect(await findRequest(pool, request.requestId)).toMatchObject({ path: '/v1/ping/…' });
});

describe('failures that no rate limit bounds', () => {
  const failed = { isAdmitted: false, status: 503, errorCode: 'gateway_unavailable' } as const;
  const start = () => startLog({ db: pool, clock: steppedClock().clock }).log;

  test('of an outage are recorded although a scanner has used up the budget of refusals', async () => {
    const log = start();
    const scan = { isAdmitted: false, status: 401 };
    for (let nth = 0; nth < 400; nth++) log.record(answered(scan));
    expect(log.lost().limited).toBe(100);
    for (let nth = 0; nth < 1_000; nth++) log.record(answered({ ...failed, network: '192.0.2.1' }));
    expect(log.lost().limited).toBe(100);
    await log.stop();
  });

  test('of one network leave the budget of others and of partners, and have a bound together', async () => {
    const log = start();
    const { partnerId } = await createPartnerWithKeys(pool);
    const keyHolder = { partnerId, mode: 'live', keyId: '7f3a9c21b0d4' } as const;
    const flood = (network: string) => {
      for (let nth = 0; nth < 1_500; nth++) log.record(answered({ ...failed, network }));
      return log.lost().limited;
    };
    expect(flood('192.0.2.1')).toBe(500);
    log.record(answered({ ...failed, network: '192.0.2.2' }));
    log.record(answered({ ...failed, network: '192.0.2.1', keyHolder }));
    expect(log.lost().limited).toBe(500);
    for (let nth = 3; nth < 6; nth++) flood(`192.0.2.${nth}`);
    // 5 000 of all networks, of which 4 002 are used.
    expect(log.lost().limited).toBe(2_000);
    expect(flood('192.0.2.6')).toBe(2_000 + 502);
    await log.stop();
  });
});
