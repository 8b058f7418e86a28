/** What the service writes in English about a field, and the same in Russian. */
const sentences: Record<string, string> = {
  'A filter is not valid: check the filters.': 'Проверьте фильтры: один из них заполнен неверно.',
  'Enter a name of 1 to 128 characters.': 'Введите название от 1 до 128 символов.',
  'Enter a label of up to 128 characters.': 'Введите метку до 128 символов.',
  'Enter an amount above zero.': 'Введите сумму больше нуля.',
  'A limit must be more than zero.': 'Лимит должен быть больше нуля.',
  'Choose a mode and at least one kind of events.': 'Выберите режим и хотя бы один вид событий.',
  'Enter one e-mail address, such as accounts@example.com.':
    'Введите один адрес электронной почты, например accounts@example.com.',
  'This service sends no mails.': 'Сервис не отправляет писем.',
  'Send a photo as JPEG or PNG.': 'Отправьте фото в формате JPEG или PNG.',
  'This day does not exist or has not started.': 'Такого дня нет, или он ещё не наступил.',
  'Choose two days of the calendar, such as 2026-10-01 and 2026-10-31.':
    'Выберите первый и последний день, например 01.10.2026 и 31.10.2026.',
  'The first day must not be after the last one.': 'Первый день не может быть позже последнего.',
  'Choose a period of at most a year.': 'Выберите период не длиннее года.',
  'The period must not end after today.': 'Период не может заканчиваться позже сегодняшнего дня.',
  'Choose a time zone by its IANA name, such as Europe/Moscow.':
    'Выберите часовой пояс по названию IANA, например Europe/Moscow.',
};

const notAnAddress = /^"([^"]{1,100})" is not an IP address or range/;

export function inRussian(text: string): string {
  const address = notAnAddress.exec(text)?.[1];
  if (address !== undefined)
    return `«${address}» — не IP-адрес и не диапазон. Пример: 192.0.2.7 или 2001:db8::/32.`;
  return sentences[text] ?? text;
}
