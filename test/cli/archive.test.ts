import { expect, test } from 'vitest';
import { createPast } from '../payments/archive-world.ts';
import { createCommandLine } from './command-line.ts';

const { pool, run, runJson, expectRefusal } = await createCommandLine();
const past = await createPast(pool, '2025-01-10T00:00:00Z');

test('archive counts, moves, and finds nothing more to move', async () => {
  const partnerId = await past.newPartner();
  for (let nth = 0; nth < 3; nth++) await past.pay(partnerId);
  past.at('2025-02-10T00:00:00Z');
  await past.pay(partnerId);

  const dry = await runJson('archive --before 2025-03 --dry-run');
  const sizes = { bytes: expect.any(Number) };
  expect(dry).toEqual({
    before: '2025-03',
    dry_run: true,
    months: [
      { month: '2025-01', payments: 3, events: 3, entries: 8, ...sizes },
      { month: '2025-02', payments: 1, events: 1, entries: 2, ...sizes },
    ],
    moved: { payments: 0, events: 0, entries: 0 },
  });
  const { stdout } = await run('archive --before 2025-02');
  expect(stdout).toContain('Archived 3 payments, 3 events and 8 entries from before 2025-02.');
  expect(await runJson('archive --before 2025-03')).toMatchObject({
    moved: { payments: 1, events: 1, entries: 2 },
  });
  expect((await run('archive --before 2025-03')).stdout).toBe(
    'There is nothing to archive before 2025-03.\n',
  );
  expect((await run('ledger verify')).code).toBe(0);
  const { rows } = await pool.query(`SELECT subject FROM audit WHERE action = 'archive.move' ORDER BY id`);
  expect(rows).toEqual([{ subject: '2025-02' }, { subject: '2025-03' }]);
});

test('a month that is not closed, or no month, is refused', async () => {
  const nextMonth = new Date(Date.now() + 31 * 86_400_000).toISOString().slice(0, 7);
  const thisMonth = new Date().toISOString().slice(0, 7);
  const tooEarly = /^A month can be archived 31 days after its end: use \d{4}-\d\d or an earlier/;
  for (const month of [nextMonth, thisMonth, '2999-01'])
    await expectRefusal(1, tooEarly, `archive --before ${month}`);
  for (const wrong of ['2025', '2025-13', '2025-1', '2025-01-01', 'January'])
    await expectRefusal(2, /a month such as 2027-01/, 'archive --before', wrong);
  await expectRefusal(2, /--before/, 'archive');
});
