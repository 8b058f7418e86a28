import { alarmKinds } from '../texts/alarms.ts';
import { inBoth } from '../texts/index.ts';

const plural = new Intl.PluralRules('ru');

export const texts = inBoth({
  spans: {
    '60': ['1 hour', '1 час'],
    '360': ['6 hours', '6 часов'],
    '1440': ['24 hours', '24 часа'],
  },
  perMinute: (n: string) => [`${n} per minute`, `${n} в минуту`],
  ended: (ok: string, all: string) => [`${ok} of ${all} completed`, `${ok} из ${all} завершённых`],
  settle: ['Processing time', 'Время обработки'],
  settleHint: (p99: string) => [`median · p99 ${p99}`, `медиана · p99 ${p99}`],
  processing: ['Processing', 'В обработке'],
  review: ['Manual review', 'Ручная проверка'],
  reviewNone: ['queue is empty', 'очередь пуста'],
  overdue: (n: number) => [`${n} overdue`, `просрочено: ${n}`],
  oldest: ['oldest', 'самый ранний'],
  rate: ['Rate, ₽ per USDT', 'Курс, ₽ за USDT'],
  rateAge: (age: string) => [`updated ${age} ago`, `обновлён ${age} назад`],
  noRate: ['no rate: payments are rejected', 'курса нет: платежи не принимаются'],
  locked: ['locked in quotes:', 'курс зафиксирован на'],
  held: ['Held', 'Зарезервировано'],
  partners: (n: number) => [`partners: ${n}`, `партнёров: ${n}`],
  deliveries: ['Webhook deliveries', 'Доставка вебхуков'],
  failing: ['failing', 'с ошибками'],
  waitingNow: (n: number) => [`${n} pending`, `в очереди: ${n}`],
  givenUp: (n: number) => [`${n} failed permanently`, `не удалось доставить: ${n}`],
  suspended: (n: number) => [`webhooks suspended: ${n}`, `вебхуков приостановлено: ${n}`],
  allWell: ['no problems', 'ошибок нет'],
  chart: ['Payments per minute', 'Платежи в минуту'],
  created: ['Created', 'Созданные'],
  rateChart: ['Rate, last 24 hours', 'Курс за 24 часа'],
  alarms: ['Open alarms', 'Открытые оповещения'],
  allAlarms: ['All alarms', 'Все оповещения'],
  noAlarms: ['No open alarms', 'Открытых оповещений нет'],
  noAlarmsHint: [
    'Problems that need attention appear here.',
    'Здесь появятся проблемы, которые требуют внимания.',
  ],
  times: (n: number) => [`${n} times`, `${n} ${plural.select(n) === 'few' ? 'раза' : 'раз'}`],
  toApprove: (n: number) => [`partners: ${n}`, `партнёры: ${n}`],
  heldDeposits: (n: number) => [`deposits: ${n}`, `пополнения: ${n}`],
  requests: (n: number) => [`approvals: ${n}`, `подтверждения: ${n}`],
  tasks: ['Needs action', 'Требуют действий'],
  kinds: alarmKinds,
});
