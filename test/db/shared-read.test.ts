import { expect, test } from 'vitest';
import { sharedRead } from '../../src/db/batching/shared-read.ts';
import { transaction } from '../../src/db/postgres/pool.ts';
import { sharedDatabase } from '../helpers/database.ts';

const { pool } = await sharedDatabase();
await pool.query('CREATE TABLE IF NOT EXISTS numbers (number int PRIMARY KEY, name text NOT NULL)');
await pool.query("INSERT INTO numbers SELECT n, 'number ' || n FROM generate_series(1, 500) n");

let statements = 0;
const nameOf = sharedRead(async (db, numbers: number[]) => {
  statements += 1;
  const { rows } = await db.query<{ number: number; name: string }>({
    text: 'SELECT * FROM numbers WHERE number = ANY ($1)',
    values: [numbers],
  });
  return numbers.map(number => rows.find(row => row.number === number)?.name);
});

test('concurrent calls share a statement, and each gets its own answer', async () => {
  statements = 0;
  const asked = Array.from({ length: 500 }, (_, index) => ((index * 7) % 500) + 1);
  const names = await Promise.all([...asked, 501].map(number => nameOf(pool, number)));
  expect(names).toEqual([...asked.map(number => `number ${number}`), undefined]);
  expect(statements).toBeLessThan(10);
});

test('a call after a change finds it, however busy the process is', async () => {
  const noise = Array.from({ length: 300 }, (_, index) => nameOf(pool, index + 1));
  await pool.query("UPDATE numbers SET name = 'another' WHERE number = 1");
  expect(await nameOf(pool, 1)).toBe('another');
  await Promise.all(noise);
});

test('a call inside a transaction reads inside that transaction', async () => {
  await transaction(pool, async tx => {
    await tx.query({ text: "UPDATE numbers SET name = 'inside' WHERE number = 2" });
    expect(await nameOf(tx, 2)).toBe('inside');
    expect(await nameOf(pool, 2)).toBe('number 2');
  });
});

test('an error fails all calls that shared the statement, and none after them', async () => {
  let fails = true;
  const read = sharedRead(async (db, questions: number[]) => {
    await db.query({ text: fails ? 'SELECT nonsense' : 'SELECT 1' });
    return questions;
  });
  const outcomes = await Promise.allSettled([read(pool, 1), read(pool, 2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await read(pool, 3)).toBe(3);
});
