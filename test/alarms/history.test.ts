import { expect, test } from 'vitest';
import { type AlarmFilter, findAlarms } from '../../src/alarms/index.ts';
import { createDatabase } from '../helpers/database.ts';
import { explaining } from '../helpers/plans.ts';

const { pool } = await createDatabase();
const count = 40_000;
const firstAt = Date.parse('2026-01-01T00:00:00Z');
const timeOf = (nth: number) => new Date(firstAt + nth * 60_000);

// One a minute, of twenty kinds about two thousand subjects; all but the last fifty are cleared.
await pool.query(
  `INSERT INTO alarms (kind, subject, detail, first_at, last_at, cleared_at, cleared_by)
   SELECT 'kind_' || nth % 20, 'pay_' || nth % 2000, '', t.at, t.at, c.at, CASE WHEN c.at IS NOT NULL THEN 'kopeck' END
     FROM generate_series(1, ${count}) AS nth,
          LATERAL (SELECT $1::timestamptz + nth * interval '1 minute' AS at) AS t,
          LATERAL (SELECT CASE WHEN nth <= ${count - 50} THEN t.at END AS at) AS c`,
  [new Date(firstAt)],
);
await pool.query('VACUUM ANALYZE alarms');

const period = { from: timeOf(1_000), before: timeOf(1_100) };
const filters: [name: string, filter: AlarmFilter, condition: string, values?: unknown[]][] = [
  ['nothing', {}, 'true'],
  ['open', { state: 'open' }, 'cleared_at IS NULL'],
  ['cleared', { state: 'cleared' }, 'cleared_at IS NOT NULL'],
  ['a kind', { kind: 'kind_7' }, "kind = 'kind_7'"],
  ['a subject', { subject: 'pay_1999' }, "subject = 'pay_1999'"],
  ['a subject without alarms', { subject: 'pay_x' }, 'false'],
  ['an old period', period, 'first_at >= $1 AND first_at < $2', [period.from, period.before]],
  [
    'a kind in an old period',
    { ...period, kind: 'kind_7' },
    "kind = 'kind_7' AND first_at >= $1 AND first_at < $2",
    [period.from, period.before],
  ],
];

test.each(filters)(
  '%s: newest first, page by page, along an index',
  async (_name, filter, condition, values = []) => {
    const wanted = await pool.query(
      `SELECT id::float8 AS id FROM alarms WHERE ${condition} ORDER BY id DESC LIMIT 200`,
      values,
    );
    const { db, blocks } = explaining(pool);
    const found: number[] = [];
    for (let below: number | undefined; found.length < 200; below = found.at(-1)) {
      const page = await findAlarms(db, filter, { limit: 50, below });
      if (page.length === 0) break;
      found.push(...page.map(({ alarmId }) => alarmId));
    }
    expect(found).toEqual(wanted.rows.map(({ id }) => id));
    // A scan of the whole table reads twice as many.
    expect(Math.max(...blocks()), `${blocks()}`).toBeLessThan(250);
  },
);
