import { csvLine } from '../../base/csv.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import { type PaymentFilter, readFoundPayments } from '../../payments/index.ts';
import type { PaymentRow } from '../shapes/payments.ts';
import { paymentRow } from './rows.ts';

/** More than a spreadsheet is pleasant with; the page names this limit, too. */
const maxExported = 50_000;

const columns = [
  'payment_id',
  'created_at',
  'settled_at',
  'partner_id',
  'partner',
  'mode',
  'status',
  'status_detail',
  'error_code',
  'amount_rub',
  'amount_usdt',
  'rate',
  'recipient',
  'external_id',
  'qrc_id',
] as const satisfies (keyof PaymentRow)[];

/** The payments as CSV, newest first. If there are more than the limit, the last line says so. */
export async function* writePayments(
  db: Queryable,
  filters: PaymentFilter[],
  max = maxExported,
): AsyncGenerator<string> {
  yield csvLine([...columns]);
  for await (const { payments, hasMore } of readFoundPayments(db, filters, max)) {
    yield payments
      .map(paymentRow)
      .map(row => csvLine(columns.map(column => row[column])))
      .join('');
    if (hasMore)
      yield csvLine([`Only the newest ${max} payments are in this file: choose a shorter period.`]);
  }
}
