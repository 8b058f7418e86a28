import { inBoth, type Words } from '../../texts/index.ts';

export const texts = inBoth({
  lead: [
    'Events of the last 30 days on their way to the endpoints of partners, newest first.',
    'События за последние 30 дней, отправляемые обработчикам партнёров, сначала новые.',
  ],
  events: {
    'payment.succeeded': ['Payment succeeded', 'Платёж оплачен'],
    'payment.failed': ['Payment failed', 'Платёж не прошёл'],
    'payment.refunded': ['Payment refunded', 'Возврат по платежу'],
  } as Words,
  state: ['Delivery status', 'Статус доставки'],
  states: {
    pending: ['Pending', 'Ожидает отправки'],
    delivered: ['Delivered', 'Доставлено'],
    failed: ['Failed permanently', 'Не удалось доставить'],
    none: ['Not sent', 'Не отправлялось'],
  } as Words,
  created: ['Created, UTC', 'Создано, UTC'],
  nextAt: ['next', 'следующая'],
  select: ['Select', 'Выбрать'],
  selectOne: (event: string) => [`Select ${event}`, `Выбрать ${event}`],
  selectNone: ['Clear selection', 'Снять выбор'],
  selected: (count: number) => [`Selected: ${count}`, `Выбрано: ${count}`],
  resendSays: (count: number) => [
    count === 1
      ? 'The event is queued with all attempts of the retry schedule, even if it was delivered before. The endpoint gets it with the same ID.'
      : `${count} events are queued with all attempts of the retry schedule, even if they were delivered before. Endpoints get them with the same IDs.`,
    count === 1
      ? 'Событие снова встанет в очередь со всеми попытками по расписанию, даже если уже было доставлено. Обработчик получит его с тем же ID.'
      : `В очередь снова встанут события (${count}) со всеми попытками по расписанию, даже если уже были доставлены. Обработчики получат их с теми же ID.`,
  ],
  none: ['No deliveries found', 'Ничего не найдено'],
  noneHint: [
    'Remove some filters, or choose a longer period.',
    'Уберите часть фильтров или выберите более длинный период.',
  ],
  noneYet: ['No deliveries yet', 'Событий пока нет'],
  noneYetHint: [
    'When a payment of a partner with a webhook finishes, its event appears here.',
    'Когда завершится платёж партнёра с вебхуком, его событие появится здесь.',
  ],
  delivery: ['Delivery', 'Доставка'],
  endpoint: ['Endpoint', 'Обработчик'],
  noEndpoint: ['The endpoint was removed.', 'Обработчик удалён.'],
  endpointStates: {
    failing: ['Failing: the last events were not accepted.', 'Ошибки: последние события не приняты.'],
    suspended: [
      'Suspended: no events are sent until a check of the endpoint succeeds.',
      'Отправка приостановлена до успешной проверки обработчика.',
    ],
  } as Words,
  toPartner: ['Webhook of the partner', 'Вебхук партнёра'],
  signature: ['made for each attempt, not stored', 'создаётся для каждой попытки и не хранится'],
  body: ['Body', 'Тело'],
  responseBody: ['Response body', 'Тело ответа'],
  noAttempts: ['No attempts in the last 30 days', 'За последние 30 дней попыток не было'],
});
