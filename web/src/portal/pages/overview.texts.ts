import { inBoth } from '../../texts/language.ts';

export const texts = inBoth({
  period: ['Period', 'Период'],
  days: (count: number) => [`${count} days`, `${count} дней`],
  summary: ['Summary', 'Сводка'],
  available: ['Available', 'Доступно'],
  turnover: ['Turnover', 'Оборот'],
  rate: ['Rate, RUB for 1 USDT', 'Курс, ₽ за 1 USDT'],
  balance: ['Balance at the end of the day', 'Баланс на конец дня'],
  counting: ['Older days are still being counted.', 'Более ранние дни ещё подсчитываются.'],
  toWebhook: ['Open the webhook', 'Открыть вебхук'],
  webhook: {
    failing: ['Your endpoint does not accept our events.', 'Ваш сервер не принимает наши события.'],
    suspended: [
      'Webhooks are suspended: three events in a row were not delivered.',
      'Отправка вебхуков приостановлена: три события подряд не доставлены.',
    ],
  },
});
