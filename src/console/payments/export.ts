import type { PaymentsCsv } from '../../web/index.ts';
import type { PaymentRow } from '../shapes/payments.ts';
import { paymentRow } from './rows.ts';

const columns: PaymentsCsv<PaymentRow>['columns'] = [
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
];

export const paymentsCsv: PaymentsCsv<PaymentRow> = { columns, toRow: paymentRow };
