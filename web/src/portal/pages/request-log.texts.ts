import { inBoth } from '../../texts/language.ts';

export const texts = inBoth({
  lead: [
    'What your keys sent to the API in the last days, and how it was answered. Without bodies, headers and query parameters.',
    'Что ваши ключи отправляли в API за последние дни и какой получили ответ. Без тел, заголовков и параметров запроса.',
  ],
  at: ['Time, UTC', 'Время, UTC'],
  request: ['Request', 'Запрос'],
  status: ['Status', 'Статус'],
  took: ['Duration', 'Длительность'],
  payment: ['Payment', 'Платёж'],
  key: ['Key', 'Ключ'],
  id: ['Request ID', 'ID запроса'],
  error: ['Error code', 'Код ошибки'],
  any: ['Any', 'Любой'],
  none: ['No requests found', 'Ничего не найдено'],
  noneYet: ['No requests yet', 'Запросов пока нет'],
  hint: ['Requests appear here within seconds.', 'Запросы появляются здесь через несколько секунд.'],
});
