import { inBoth } from '../texts/index.ts';

export const texts = inBoth({
  lead: [
    'What partners sent to the API, and how it was answered. Without bodies, headers and query parameters.',
    'Что партнёры отправляли в API и какой получили ответ. Без тел, заголовков и параметров запроса (после «?»).',
  ],
  request: ['Request ID', 'ID запроса'],
  noPartner: [
    'Unknown (key missing, not valid or not checked)',
    'Неизвестен (ключ не указан, недействителен или не проверялся)',
  ],
  key: ['Key ID', 'ID ключа'],
  path: ['Path', 'Путь'],
  notHttp: ['Not valid HTTP', 'Некорректный HTTP'],
  classes: {
    '2xx': ['2xx: success', '2xx: успешные'],
    '4xx': ['4xx: rejected', '4xx: отклонённые'],
    '5xx': ['5xx: service errors', '5xx: ошибки сервиса'],
  },
  since: ['From, UTC', 'С, UTC'],
  until: ['Before, UTC', 'До, UTC'],
  noneHint: [
    'Remove some filters. Requests are kept for REQUEST_LOG_DAYS days (7 by default).',
    'Уберите часть фильтров. Запросы хранятся REQUEST_LOG_DAYS дней (по умолчанию 7).',
  ],
  noneSoFar: ['No requests found so far', 'Пока ничего не найдено'],
  noneSoFarHint: [
    'Only part of the log has been searched. Select “Show more” to search older requests.',
    'Просмотрена только часть журнала. Нажмите «Показать ещё», чтобы искать в более старых запросах.',
  ],
  noneYetHint: [
    'Requests from partners appear here within seconds, unless the log is turned off.',
    'Запросы партнёров появляются здесь через несколько секунд, если журнал не отключён.',
  ],
});
