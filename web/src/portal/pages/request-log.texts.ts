import { inBoth } from '../../texts/language.ts';

export const texts = inBoth({
  lead: [
    'What your keys sent to the API in the last days, and how it was answered. Without bodies, headers and query parameters.',
    'Что ваши ключи отправляли в API за последние дни и какой получили ответ. Без тел, заголовков и параметров запроса.',
  ],
  id: ['Request ID', 'ID запроса'],
  hint: ['Requests appear here within seconds.', 'Запросы появляются здесь через несколько секунд.'],
});
