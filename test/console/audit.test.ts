import { beforeAll, expect, test } from 'vitest';
import { recordChange } from '../../src/db/audit/audit.ts';
import { listAudit } from '../../src/db/audit/audit-log.ts';
import { manualClock } from '../helpers/clock.ts';
import { readPages, startConsole } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
const clock = manualClock('2026-11-20T12:00:00Z');
const { signIn } = await startConsole({ pool, clock });
let viewer: Awaited<ReturnType<typeof signIn>>;

beforeAll(async () => {
  viewer = await signIn('viewer');
  for (let index = 0; index < 30; index++) {
    const audit = { pool, clock, actor: `operator:${index % 2 === 0 ? 'anna' : 'boris'}` };
    const subject = index === 7 ? '=HYPERLINK("http://evil")' : `thing-${index % 5}`;
    await recordChange(pool, audit, { action: `test.${index % 3}`, subject, after: { index } });
    // Several with the same timestamp.
    if (index % 4 === 0) clock.advance(60_000);
  }
});

interface Row {
  after: { index: number };
}
const numbers = (rows: Row[]) => rows.map(({ after }) => after.index);

const all = async (filter: string) => numbers(await readPages(viewer, `/audit?limit=4&${filter}`));
const downFrom29 = Array.from({ length: 30 }, (_, index) => 29 - index);

test('is listed newest first, each record once, with any filter', async () => {
  expect(await all('actor=operator:anna')).toEqual(downFrom29.filter(index => index % 2 === 0));
  expect(await all('action=test.1')).toEqual(downFrom29.filter(index => index % 3 === 1));
  expect(await all('subject=thing-2&actor=operator:boris')).toEqual(
    downFrom29.filter(index => index % 5 === 2 && index % 2 === 1 && index !== 7),
  );
  const times = 'since=2026-11-20T12:01:00Z&until=2026-11-20T12:03:00Z';
  expect(await all(`${times}`)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
});

test('is exported as JSON and as CSV without spreadsheet formulas', async () => {
  const json = await viewer.get('/audit/export?format=json&actor=operator:boris');
  expect(numbers(json.json)).toEqual(downFrom29.filter(index => index % 2 === 1));
  const csv = await viewer.get('/audit/export?format=csv&actor=operator:boris');
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
  expect(csv.text.trimEnd().split('\n')).toHaveLength(16);
  expect(csv.text).toContain(`"'=HYPERLINK(""http://evil"")"`);
  expect((await viewer.get('/audit/export?format=json&actor=nobody')).json).toEqual([]);
});

test('a long log is exported completely, and each filter uses an index', async () => {
  await pool.query(
    `INSERT INTO audit (at, actor, action, subject)
       SELECT timestamptz '2026-01-01' + n * interval '1 s', 'operator:' || n % 100, 'many', 'x' || n % 1000
         FROM generate_series(1, 4000) AS n`,
  );
  await pool.query('ANALYZE audit');
  const { json } = await viewer.get('/audit/export?format=json&action=many');
  expect(new Set(json.map(({ audit_id }: { audit_id: string }) => audit_id)).size).toBe(4_000);

  const planOf = async (filter: Parameters<typeof listAudit>[1]) => {
    let plan = '';
    const explaining = {
      query: async (statement: { text: string; values?: unknown[] }) => {
        const { rows } = await pool.query(`EXPLAIN ${statement.text}`, statement.values);
        plan = rows.map(row => row['QUERY PLAN']).join('\n');
        return { rows: [] };
      },
    };
    await listAudit(explaining as never, filter, { limit: 50 });
    return plan;
  };
  expect(await planOf({ actor: 'operator:7' })).toContain('audit_by_actor');
  expect(await planOf({ subject: 'x7' })).toContain('audit_by_subject');
  expect(await planOf({ action: 'key.revoke' })).toContain('audit_by_action');
  expect(await planOf({ until: new Date('2026-01-01T01:00:00Z') })).toContain('audit_by_time');
});
