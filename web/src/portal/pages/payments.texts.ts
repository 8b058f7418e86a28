import { inBoth } from '../../texts/language.ts';

const inRussian = new Intl.PluralRules('ru');
const platezh = { one: 'платёж', few: 'платежа' } as Record<string, string>;

export const texts = inBoth({
  created: ['Created, UTC', 'Создан, UTC'],
  usdt: 'USDT',
  totalsCut: ['Only the newest 20,000 payments are counted.', 'Подсчитаны только последние 20 000 платежей.'],
  payments: (count: number) => [
    count === 1 ? '1 payment' : `${count} payments`,
    `${count} ${platezh[inRussian.select(count)] ?? 'платежей'}`,
  ],
  none: ['No payments found', 'Ничего не найдено'],
  noneHint: ['Remove some filters.', 'Уберите часть фильтров.'],
  noneYet: ['No payments yet', 'Платежей пока нет'],
  noneYetHint: [
    'Payments that you create with the API appear here.',
    'Здесь появятся платежи, созданные через API.',
  ],
});
