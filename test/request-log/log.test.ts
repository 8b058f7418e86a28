import { test as base, describe, expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import type { Pool, Queryable } from '../../src/db/postgres/pool.ts';
import { findRequest, pruneRequestLog } from '../../src/request-log/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase, createPartnerWithKeys } from '../helpers/database.ts';
import { answered, startLog } from './requests.ts';

const { pool } = await createDatabase();
const { partnerId } = await createPartnerWithKeys(pool);
const keyHolder = { partnerId, mode: 'live', keyId: '7f3a9c21b0d4' } as const;

const countRows = async (each: Pool = pool) =>
  (await each.query('SELECT count(*)::int AS count FROM api_requests')).rows[0].count as number;

/** A database that answers only when it is released. */
function hangingDatabase() {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  let statements = 0;
  const db: Queryable = {
    query: async statement => {
      statements += 1;
      await promise;
      return pool.query(statement);
    },
  };
  return { db, release, statements: () => statements };
}
const test = base.extend('before', () => countRows());

describe('at shutdown', () => {
  test('everything that waits is written', async ({ before }) => {
    const { log } = startLog({ db: pool });
    for (let nth = 0; nth < 1_100; nth++) log.record(answered());
    await log.stop();
    expect((await countRows()) - before).toBe(1_100);
    expect(log.lost()).toEqual({ full: 0, failed: 0, limited: 0 });
  });

  test('a database that hangs delays it by a few seconds at most, and what is left is counted', async () => {
    const clock = manualClock();
    let statements = 0;
    const slow: Queryable = {
      query: async statement => {
        statements += 1;
        clock.advance(3_000);
        return pool.query(statement);
      },
    };
    const { log, warnings } = startLog({ db: slow, clock });
    for (let nth = 0; nth < 2_600; nth++) log.record(answered());
    await log.stop();
    expect(statements).toBe(2);
    expect(log.lost().failed).toBe(600);
    expect(warnings).toHaveLength(1);
  });

  test('nothing is tried while the database does not answer', async () => {
    const { db, statements } = hangingDatabase();
    const { log } = startLog({ db, isDatabaseAnswering: () => false });
    log.record(answered());
    await log.stop();
    expect(statements()).toBe(0);
    expect(log.lost().failed).toBe(1);
  });
});

describe('a slow database', () => {
  test('costs no memory without bound: what exceeds the buffer is dropped, counted and logged once', async () => {
    const { db, release, statements } = hangingDatabase();
    const clock = manualClock();
    const { log, warnings } = startLog({ db, clock, maxWaiting: 400 });
    log.record(answered());
    await clock.until(() => expect(statements()).toBe(1));
    for (let nth = 0; nth < 1_000; nth++) log.record(answered());
    expect(log.lost()).toEqual({ full: 601, failed: 0, limited: 0 });
    expect(warnings).toEqual(['requests are missing from the request log: too many are waiting']);
    const before = await countRows();
    release();
    await log.stop();
    expect((await countRows()) - before).toBe(400);
  });

  test('loses what it did not store, and the next ones are tried again', async () => {
    let isBroken = true;
    let statements = 0;
    const db: Queryable = {
      query: async statement => {
        statements += 1;
        if (isBroken) throw new Error('no database');
        return pool.query(statement);
      },
    };
    const clock = manualClock();
    const { log, warnings } = startLog({ db, clock });
    log.record(answered());
    await clock.until(() => expect(log.lost().failed).toBe(1));
    isBroken = false;
    const request = answered();
    log.record(request);
    await clock.until(async () => expect(await findRequest(pool, request.requestId)).toBeDefined());
    await log.stop();
    expect(statements).toBe(2);
    expect(warnings).toEqual(['requests are missing from the request log: the database did not store them']);
  });

  test('that is known to be away is not tried, and what waits is written when it is back', async () => {
    let isAnswering = false;
    const clock = manualClock();
    const { log } = startLog({ db: pool, clock, isDatabaseAnswering: () => isAnswering });
    const request = answered({ status: 503, errorCode: 'gateway_unavailable' });
    log.record(request);
    await clock.rounds(2);
    expect(await findRequest(pool, request.requestId)).toBeUndefined();
    isAnswering = true;
    await clock.until(async () => expect(await findRequest(pool, request.requestId)).toBeDefined());
    await log.stop();
  });
});

describe('a flood of refused requests', () => {
  const refused = { isAdmitted: false, status: 401, errorCode: 'unauthorized' } as const;

  test('without a key adds 300 rows, then two a second', async ({ before }) => {
    const clock = manualClock();
    const { log, warnings } = startLog({ db: pool, clock });
    for (let nth = 0; nth < 5_000; nth++) log.record(answered(refused, clock));
    expect(log.lost().limited).toBe(4_700);
    clock.advance(10_000);
    for (let nth = 0; nth < 100; nth++) log.record(answered(refused, clock));
    await log.stop();
    expect(log.lost()).toEqual({ full: 0, failed: 0, limited: 4_780 });
    expect((await countRows()) - before).toBe(320);
    expect(warnings).toEqual([]);
  });

  test('of one partner leaves those of others and all that were admitted', async ({ before }) => {
    const { log } = startLog({ db: pool, clock: manualClock() });
    const limited = { ...refused, status: 429, errorCode: 'rate_limited', keyHolder };
    for (let nth = 0; nth < 1_000; nth++) log.record(answered(limited));
    log.record(answered(refused));
    log.record(answered({ ...limited, keyHolder: { ...keyHolder, partnerId: newId('prt', systemClock) } }));
    for (let nth = 0; nth < 500; nth++) log.record(answered({ keyHolder }));
    await log.stop();
    expect(log.lost().limited).toBe(700);
    expect((await countRows()) - before).toBe(802);
  });
});

describe('the log is kept by day', () => {
  const start = '2026-11-18T09:00:00.000Z';
  const insert = (each: Pool, ...ats: string[]) =>
    each.query(
      `INSERT INTO api_requests (request_id, at, status, duration_ms)
       SELECT gen_random_uuid(), at, 200, 1 FROM unnest($1::timestamptz[]) AS at`,
      [ats],
    );
  const partitions = `SELECT relname AS name FROM pg_class WHERE relname ~ '^api_requests(_default|_\\d+)$' ORDER BY 1`;
  const partitionsOf = async (each: Pool) =>
    (await each.query(partitions)).rows.map(({ name }) => name.replace('api_requests', ''));

  test('today and two days ahead have a partition; a row goes with its own within the eighth day', async () => {
    const { pool: other } = await createDatabase();
    const clock = manualClock(start);
    await insert(other, '2026-11-18T00:00:00Z', '2026-11-18T23:59:59.999Z');
    await pruneRequestLog(other, clock, 7);
    expect(await partitionsOf(other)).toEqual(['_20261118', '_20261119', '_20261120', '_default']);
    const { rows } = await other.query(
      `SELECT (SELECT count(*)::int FROM api_requests_20261118) AS rows, count(*)::int AS indexes
         FROM pg_index WHERE indrelid = 'api_requests_20261118'::regclass`,
    );
    expect(rows).toEqual([{ rows: 2, indexes: 6 }]);
    clock.advance(Date.parse('2026-11-25T23:59:59.999Z') - Date.parse(start));
    expect(await pruneRequestLog(other, clock, 7)).toBe(0);
    expect(await countRows(other)).toBe(2);
    clock.advance(1);
    expect(await pruneRequestLog(other, clock, 7)).toBe(0);
    expect(await countRows(other)).toBe(0);
    const days = ['19', '20', '25', '26', '27', '28'].map(day => `_202611${day}`);
    expect(await partitionsOf(other)).toEqual([...days, '_default']);
  });

  test('with 0 days what was logged goes by the next day', async () => {
    const { pool: other } = await createDatabase();
    const clock = manualClock(start);
    await pruneRequestLog(other, clock, 7);
    await insert(other, start);
    clock.advance(15 * 3_600_000);
    await pruneRequestLog(other, clock, 0);
    expect(await countRows(other)).toBe(0);
  });
});
