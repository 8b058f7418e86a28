import { numberIn } from '../parts/values.tsx';
import { inBoth } from '../texts/index.ts';

const plural = new Intl.PluralRules('ru');
const forms: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'платёж', few: 'платежа' };

export const texts = inBoth({
  created: ['Created, UTC', 'Создан, UTC'],
  usdt: ['Amount, USDT', 'Сумма, USDT'],
  moved: {
    succeeded: ['Debited:', 'Списано:'],
    processing: ['Held:', 'Зарезервировано:'],
    manual_review: ['Held:', 'Зарезервировано:'],
    failed: ['Returned:', 'Возвращено:'],
  },
  payments: (count: number) => [
    `${numberIn('en', count)} ${count === 1 ? 'payment' : 'payments'},`,
    `${numberIn('ru', count)} ${forms[plural.select(count)] ?? 'платежей'},`,
  ],
  totalsCut: [
    'There are too many payments: only the newest are counted. Choose a shorter period for all.',
    'Платежей слишком много: учтены только новые. Чтобы учесть все, выберите период короче.',
  ],
  csv: ['Download CSV', 'Скачать CSV'],
  exportHint: ['Up to the newest 50,000', 'Не больше 50 000 последних'],
  searchHint: [
    'Payment ID, order number, QR link or code, recipient, partner, amount',
    'ID платежа, номер заказа, ссылка или код QR, получатель, партнёр, сумма',
  ],
  none: ['No payments found', 'Ничего не найдено'],
  noneHint: [
    'Remove some filters, or paste an ID as the partner has it.',
    'Уберите часть фильтров или вставьте ID в том виде, в каком он есть у партнёра.',
  ],
  noneYet: ['No payments yet', 'Платежей пока нет'],
  noneYetHint: [
    'Payments appear here as soon as a partner pays a QR code.',
    'Платёж появится здесь, как только партнёр оплатит QR-код.',
  ],
});
