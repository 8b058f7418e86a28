import { inBoth } from '../../texts/language.ts';

export const texts = inBoth({
  now: ['Now', 'Сейчас'],
  perUsdt: ['₽ for 1 USDT', '₽ за 1 USDT'],
  asOf: ['As of', 'На момент'],
  noRate: ['No rate yet', 'Курса пока нет'],
  stale: [
    'The rate is out of date: payments are closed until it is updated.',
    'Курс устарел: платежи не принимаются, пока он не обновится.',
  ],
  history: ['History', 'История'],
  span: ['Period', 'Период'],
  spans: {
    '24': ['24 hours', '24 часа'],
    '168': ['7 days', '7 дней'],
    '720': ['30 days', '30 дней'],
  },
  rate: ['rate', 'курс'],
  calculator: ['What a payment costs', 'Сколько спишется'],
  notAnAmount: ['Enter an amount such as 1500 or 1500.50', 'Введите сумму, например 1500 или 1500,50'],
  atNow: ['At the current rate', 'По текущему курсу'],
  locked: (time: string) => [`With a locked rate, valid for ${time}`, `С фиксацией курса на ${time}`],
  outside: [
    'Your limits do not allow a payment of this amount.',
    'Ваши лимиты не допускают платёж на эту сумму.',
  ],
  fee: [
    'There is no fee: the cost of the service is in the rate.',
    'Комиссии нет: стоимость сервиса уже в курсе.',
  ],
  quotes: ['Locked quotes', 'Зафиксированные курсы'],
  quotesSays: (used: string, max: string) => [
    `Locked now: ${used} of ${max} USDT.`,
    `Сейчас зафиксировано: ${used} из ${max} USDT.`,
  ],
  noQuotes: ['No locked quotes', 'Нет зафиксированных курсов'],
  noQuotesHint: [
    'Lock a rate with POST /v1/quote and "lock": true. Quotes are here until they are used or expire.',
    'Курс фиксирует запрос POST /v1/quote с "lock": true. Здесь видны котировки, пока их не использовали и срок не истёк.',
  ],
  quote: ['Quote', 'Котировка'],
});
