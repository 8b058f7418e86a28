import pg from 'pg';
import { expect, test } from 'vitest';
import type { Queryable, Statement } from '../../src/db/postgres/index.ts';
import { askArchiveWorkers } from '../../src/payments/index.ts';

/** A coordinator with two workers; `check` is what it says of the first. The second answers. */
const coordinator = (check: () => boolean): Queryable => ({
  query: async ({ text, values }: Statement) => {
    const rows = text.includes('archive_is_distributed')
      ? [{ is_distributed: true }]
      : text.includes('pg_dist_node')
        ? [
            { name: 'one', port: 5432 },
            { name: 'two', port: 5432 },
          ]
        : [{ answers: values![0] === 'one' ? check() : true }];
    return { rows, rowCount: rows.length } as never;
  },
});

const failing = (error: Error) => () => {
  throw error;
};

test('a worker that hangs does not answer, and the next one is asked', async () => {
  const db = coordinator(failing(new Error('Query read timeout')));
  expect(await askArchiveWorkers(db)).toEqual([
    { node: 'one:5432', isReachable: false },
    { node: 'two:5432', isReachable: true },
  ]);
});

test('a coordinator that shuts down says nothing about its workers', async () => {
  const shutdown = Object.assign(new pg.DatabaseError('terminating', 0, 'error'), { code: '57P01' });
  await expect(askArchiveWorkers(coordinator(failing(shutdown)))).rejects.toBe(shutdown);
});
