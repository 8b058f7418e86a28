import { expect, test } from 'vitest';
import { instantOf } from '../../src/base/clock.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { bookOf } from '../../src/payments/refunds/book.ts';
import { openReport, readWantedPeriod, reportFile } from '../../src/reports/index.ts';
import { createDatabase } from '../helpers/database.ts';
import { createPast } from '../payments/archive-world.ts';

const { pool } = await createDatabase();
const { clock, newPartner, open, finish, pay, at, archive, dropMonth } = await createPast(
  pool,
  '2025-01-20T10:00:00Z',
);
const partnerId = await newPartner();

/** The file of a month, or why there is none. */
async function fileOf(month: string): Promise<string> {
  const days = { from: `2025-${month}-01`, to: `2025-${month}-28` };
  const period = readWantedPeriod(clock, 'Europe/Moscow', days);
  if (typeof period === 'string') throw new Error(period);
  const report = await openReport(pool, clock, { partnerId, mode: 'live', partner: 'Ромашка' }, period);
  if (typeof report === 'string') return report;
  const { pieces } = reportFile(pool, report, { format: 'csv', language: 'ru' });
  let file = '';
  for await (const piece of pieces) file += piece;
  return file;
}

test('after a month has left the archive, no file of a finished month is another: it is as it was, or refused', async () => {
  const paid = await pay(partnerId);
  const slow = await open(partnerId);
  const months = ['01', '02', '03', '04', '05'];
  await at('2025-03-10T10:00:00Z');
  await finish(slow);
  await at('2025-04-10T10:00:00Z');
  await pay(partnerId);
  const refund = { refundId: 'late', uuid: uuidFromId(paid.paymentId), amountKopecks: 100n };
  expect(await bookOf({ pool, clock }, 'live', [{ ...refund, createdAt: instantOf(clock) }])).toEqual([
    'booked',
  ]);
  await at('2025-05-10T10:00:00Z');
  await pay(partnerId);
  await at('2025-07-15T10:00:00Z');
  const before = await Promise.all(months.map(fileOf));
  await archive('2025-04');
  expect(await Promise.all(months.map(fileOf))).toEqual(before);

  await dropMonth('2025-01');
  // Of January: its own payments, one on hold until March, one refunded in April.
  const refused = new Array(4).fill('left_archive');
  expect(await Promise.all(months.map(fileOf))).toEqual([...refused, before[4]]);
});
