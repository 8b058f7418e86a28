/** What the service writes in English about a field, and the same in Russian. */
const sentences: Record<string, string> = {
  'A filter is not valid: check the filters.': 'Проверьте фильтры: один из них заполнен неверно.',
  'Enter a name of 1 to 128 characters.': 'Введите название от 1 до 128 символов.',
  'Enter a label of up to 128 characters.': 'Введите метку до 128 символов.',
  'Enter an amount above zero.': 'Введите сумму больше нуля.',
  'Send a photo as JPEG or PNG.': 'Отправьте фото в формате JPEG или PNG.',
  'This day does not exist or has not started.': 'Такого дня нет, или он ещё не наступил.',
};

const notAnAddress = /^"([^"]{1,100})" is not an IP address or range/;

export function inRussian(text: string): string {
  const address = notAnAddress.exec(text)?.[1];
  if (address !== undefined)
    return `«${address}» — не IP-адрес и не диапазон. Пример: 192.0.2.7 или 2001:db8::/32.`;
  return sentences[text] ?? text;
}
