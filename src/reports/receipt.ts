import { formatKopecks, formatMicroUsdt, formatRate } from '../base/money.ts';
import type { Payment, Refunded } from '../payments/index.ts';
import { amountText, drawTable, paragraph, writePdf } from './pdf.ts';
import { plain } from './report.ts';
import type { ReportLanguage } from './texts.ts';
import { createTimeText } from './wanted-period.ts';

const ru = {
  title: 'Квитанция о платеже',
  testMode: 'Тестовый режим: деньги не списывались.',
  partner: 'Плательщик',
  paymentId: 'ID платежа',
  externalId: 'Номер заказа',
  recipient: 'Получатель',
  amount: 'Сумма платежа, ₽',
  rate: 'Курс, ₽ за 1 USDT',
  debited: 'Списано с баланса, USDT',
  held: 'Зарезервировано на балансе, USDT',
  notDebited: 'Не списано: сумма возвращена на баланс, USDT',
  status: 'Статус',
  statuses: { succeeded: 'Оплачен', failed: 'Не прошёл', processing: 'В обработке' },
  created: 'Создан',
  settled: 'Завершён',
  refundedRub: 'Возвращено получателем, ₽',
  refundedUsdt: 'Возвращено на баланс, USDT',
  operation: 'Номер операции СБП',
  method: 'Способ оплаты',
  sbp: 'QR-код Системы быстрых платежей (СБП)',
  made: (at: string, timeZone: string) =>
    `Сформировано в сервисе Kopeck ${at}, время — по часовому поясу ${timeZone}. Статус и возвраты — на это время.`,
};

const en: typeof ru = {
  title: 'Payment receipt',
  testMode: 'Test mode: no money was debited.',
  partner: 'Payer',
  paymentId: 'Payment ID',
  externalId: 'Order number',
  recipient: 'Recipient',
  amount: 'Amount, RUB',
  rate: 'Rate, RUB for 1 USDT',
  debited: 'Debited from the balance, USDT',
  held: 'On hold, USDT',
  notDebited: 'Not debited: returned to the balance, USDT',
  status: 'Status',
  statuses: { succeeded: 'Succeeded', failed: 'Failed', processing: 'Processing' },
  created: 'Created',
  settled: 'Completed',
  refundedRub: 'Refunded by the recipient, RUB',
  refundedUsdt: 'Refunded to the balance, USDT',
  operation: 'SBP operation number',
  method: 'Payment method',
  sbp: 'QR code of the Faster Payments System (SBP)',
  made: (at, timeZone) =>
    `Made by the service Kopeck on ${at}, times in the time zone ${timeZone}. Status and refunds are as of this time.`,
};

const texts = { ru, en };

interface ReceiptFacts {
  payment: Payment;
  refunded: Refunded | undefined;
  operationNumber: string | undefined;
  partner: string;
  timeZone: string;
  now: Date;
}

/** What a partner can show about one payment, as it is now. A rejected attempt is no payment and has no receipt. */
export function writeReceipt(
  { payment, refunded, operationNumber, partner, timeZone, now }: ReceiptFacts,
  language: ReportLanguage,
): AsyncGenerator<Uint8Array> {
  const t = texts[language];
  const { status } = payment;
  if (status === 'rejected') throw new Error(`${payment.paymentId} is a rejected attempt`);
  const timeText = createTimeText(timeZone);
  const amount = (text: string) => amountText(language, text);
  const moved = { succeeded: t.debited, failed: t.notDebited, processing: t.held }[status];
  const facts: (readonly [string, string])[] = [
    [t.partner, partner],
    [t.paymentId, payment.paymentId],
    ...(payment.externalId === null ? [] : [[t.externalId, payment.externalId] as const]),
    [t.method, t.sbp],
    ...(operationNumber === undefined ? [] : [[t.operation, operationNumber] as const]),
    [t.recipient, payment.recipient],
    [t.amount, amount(formatKopecks(payment.amountKopecks))],
    [t.rate, amount(formatRate(payment.rateE4))],
    [moved, amount(formatMicroUsdt(payment.microUsdt))],
    [t.status, t.statuses[status]],
    [t.created, timeText(payment.createdAt)],
    ...(payment.settledAt ? [[t.settled, timeText(payment.settledAt)] as const] : []),
    ...(refunded
      ? [
          [t.refundedRub, amount(formatKopecks(refunded.kopecks))] as const,
          [t.refundedUsdt, amount(formatMicroUsdt(refunded.microUsdt))] as const,
        ]
      : []),
  ];
  return writePdf({ title: t.title, language, madeAt: now, layout: 'portrait' }, pdf => {
    paragraph(pdf, t.title, { size: 16, bold: true, gap: 8 });
    if (payment.mode === 'test') paragraph(pdf, t.testMode, { bold: true, gap: 8 });
    const lines = facts.map(([name, value]) => ({ cells: [name, plain(value)] }));
    drawTable(pdf, [{ width: 200 }, { width: 315 }], lines, 10);
    paragraph(pdf, t.made(timeText(now), timeZone), { size: 9 });
  });
}
