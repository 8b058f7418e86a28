import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { registerDatabaseGauges } from '../../src/telemetry/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();

const gauges = [
  { name: 'one', help: 'One.', labels: [], sql: 'SELECT ARRAY[]::text[], 1' },
  {
    name: 'by_sign',
    help: 'Two.',
    labels: ['sign'],
    sql: `SELECT ARRAY[s], 2 FROM (VALUES ('a'), ('b')) AS v (s)`,
  },
  { name: 'none', help: 'Never.', labels: [], sql: 'SELECT ARRAY[]::text[], 1 WHERE false' },
];

/** Counts the statements; `answer` may replace the database. */
function watched(answer: Queryable['query'] = statement => pool.query(statement)) {
  const statements: string[] = [];
  const query: Queryable['query'] = statement => {
    statements.push(statement.text);
    return answer(statement);
  };
  return { db: { query }, statements };
}

function register(db: Queryable, options: { clock?: typeof systemClock } = {}) {
  const registry = new Registry();
  registerDatabaseGauges(registry, gauges, { db, clock: options.clock ?? systemClock });
  return async () => (await registry.metrics()).split('\n').filter(line => /^\w/.test(line));
}

test('one statement reads all gauges, and scrapes within five seconds share it', async () => {
  const clock = manualClock();
  const { db, statements } = watched();
  const scrape = register(db, { clock });
  const read = ['one 1', 'by_sign{sign="a"} 2', 'by_sign{sign="b"} 2'];
  expect(await scrape()).toEqual(read);
  expect(await Promise.all([scrape(), scrape()])).toEqual([read, read]);
  expect(statements).toHaveLength(1);
  clock.advance(5_001);
  expect(await scrape()).toEqual(read);
  expect(statements).toHaveLength(2);
});

test('without a database there is no value, not even 0', async () => {
  const scrape = register(watched(() => Promise.reject(new Error('down'))).db);
  expect(await scrape()).toEqual([]);
});

test('a database that hangs delays a scrape for less than a second and gets no second statement', async () => {
  const { promise, resolve } = Promise.withResolvers<never>();
  const { db, statements } = watched(() => promise);
  const clock = manualClock();
  const scrape = register(db, { clock });
  for (let nth = 0; nth < 2; nth++) {
    const scraped = scrape();
    await clock.asleep(700);
    await clock.advance(700);
    expect(await scraped).toEqual([]);
  }
  expect(statements).toHaveLength(1);
  resolve({ rows: [{ name: 'one', labels: [], value: 1 }] } as never);
  expect(await scrape()).toEqual(['one 1']);
});
