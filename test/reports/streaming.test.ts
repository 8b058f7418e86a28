import { expect, test } from 'vitest';
import type { Queryable } from '../../src/db/postgres/index.ts';
import { credit } from '../../src/ledger/index.ts';
import { reportFile } from '../../src/reports/index.ts';
import { fileOf } from '../../src/web/replies.ts';
import { createReportWorld } from './world.ts';

const world = await createReportWorld('2025-10-02T09:00:00Z');
const { pool, clock, partnerId } = world;
const pages = 8;
const perPage = 500;
for (let page = 0; page < pages; page++) {
  const topUp = (nth: number) => ({
    ...{ partnerId, mode: 'live' as const, microUsdt: 1n },
    reference: `${page} ${nth} ${'a text that compresses badly '.repeat(2)}${Math.random()}`,
  });
  await credit(
    pool,
    clock,
    Array.from({ length: perPage }, (_, nth) => topUp(nth)),
  );
}
await world.until('2025-11-02T09:00:00Z');

/** The database, and how many pages of entries were read from it. */
function counting() {
  const read = { pages: 0 };
  const query = (statement: { text: string }) => {
    if (statement.text.includes('entries_between')) read.pages++;
    return pool.query(statement);
  };
  return { read, db: { query } as unknown as Queryable };
}

test.each(['csv', 'xlsx'] as const)(
  '%s: no page is read before what came before it was taken',
  async format => {
    const { read, db } = counting();
    const report = await world.report('2025-10-01', '2025-10-31');
    const { pieces } = reportFile(db, report, { format, language: 'ru' });
    const log = { error: () => {} };
    // As it is sent: what a client does not take stays in the generator.
    const request = { id: 'req' } as Parameters<typeof fileOf>[1];
    const pagesAtPiece: number[] = [];
    for await (const _piece of fileOf({ log }, request, pieces)) pagesAtPiece.push(read.pages);
    expect(pagesAtPiece.at(-1)).toBe(pages);
    expect(pagesAtPiece.filter((count, taken) => count > taken + 1)).toEqual([]);
  },
);
