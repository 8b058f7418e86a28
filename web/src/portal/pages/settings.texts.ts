import { inBoth, type Words } from '../../texts/language.ts';

export const texts = inBoth({
  notices: ['Notifications in Telegram', 'Уведомления в Telegram'],
  noticesHint: [
    'For all your partners. Notifications about keys and the team are always sent.',
    'По всем вашим партнёрам. Уведомления о ключах и команде приходят всегда.',
  ],
  language: ['Language of the bot', 'Язык бота'],
  topics: {
    delivery: ['Events that were not delivered', 'Недоставленные события'],
    sending: ['Webhook suspended or active again', 'Вебхук приостановлен или возобновлён'],
    review: ['Delayed payments', 'Задержанные платежи'],
    low: ['Low balance', 'Низкий баланс'],
    credited: ['Top-ups', 'Пополнения'],
    maintenance: ['Maintenance', 'Технические работы'],
    rate: ['Rate out of date', 'Устаревший курс'],
  } as Words,
  sessions: ['Where you are signed in', 'Где выполнен вход'],
  began: ['Signed in, UTC', 'Вход, UTC'],
  seen: ['Last activity', 'Последняя активность'],
  thisOne: ['This session', 'Этот сеанс'],
  end: ['Sign out', 'Завершить'],
  newPartner: ['One more partner', 'Ещё один партнёр'],
});
