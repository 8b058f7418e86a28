import { inBoth } from '../../texts/language.ts';

export const texts = inBoth({
  en: {
    period: 'Period',
    days: (count: number) => `${count} days`,
    summary: 'Summary',
    available: 'Available',
    held: 'On hold',
    turnover: 'Turnover',
    payments: 'Payments',
    failed: 'Failed',
    succeeded: 'Succeeded',
    success: 'Success rate',
    rate: 'Rate, RUB for 1 USDT',
    balance: 'Balance at the end of the day',
    counting: 'Older days are still being counted.',
    toWebhook: 'Open the webhook',
    webhook: {
      failing: 'Your endpoint does not accept our events.',
      suspended: 'Webhooks are suspended: three events in a row were not delivered.',
    },
  },
  ru: {
    period: 'Период',
    days: count => `${count} дней`,
    summary: 'Сводка',
    available: 'Доступно',
    held: 'В холде',
    turnover: 'Оборот',
    payments: 'Платежи',
    failed: 'Неуспешные',
    succeeded: 'Успешные',
    success: 'Доля успешных',
    rate: 'Курс, ₽ за 1 USDT',
    balance: 'Баланс на конец дня',
    counting: 'Более ранние дни ещё подсчитываются.',
    toWebhook: 'Открыть вебхук',
    webhook: {
      failing: 'Ваш сервер не принимает наши события.',
      suspended: 'Отправка вебхуков приостановлена: три события подряд не доставлены.',
    },
  },
});
