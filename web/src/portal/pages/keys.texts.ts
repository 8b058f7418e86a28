import { amountIn } from '../../parts/values.tsx';
import { inBoth } from '../texts/index.ts';

export const texts = inBoth({
  lead: [
    'A key allows spending the balance. Keep it on your server, never in an app or a web page.',
    'Ключ позволяет тратить баланс. Храните его на сервере, а не в приложении или на странице сайта.',
  ],
  create: ['Create key', 'Создать ключ'],
  createSays: ['The team is notified in the bot.', 'Команда получит уведомление в боте.'],
  created: ['New key', 'Новый ключ'],
  state: ['State', 'Состояние'],
  rights: ['Rights', 'Права'],
  addresses: ['Allowed addresses', 'Разрешённые адреса'],
  changeAddresses: ['Addresses', 'Адреса'],
  addressesHint: [
    'IP addresses or ranges, one per line. Empty: any address.',
    'IP-адреса или диапазоны, по одному в строке. Пусто — любой адрес.',
  ],
  addressesSays: (key: string) => [
    `Key ${key}. The change takes effect at once.`,
    `Ключ ${key}. Изменение вступит в силу сразу.`,
  ],
  anyAddress: ['Any', 'Любые'],
  label: ['Label', 'Метка'],
  days: ['Valid for, days', 'Срок действия, дней'],
  noEnd: ['No expiry', 'Бессрочно'],
  maxPayment: ['Limit per payment, ₽', 'Лимит на платёж, ₽'],
  maxDay: (day: string) => [`Limit ${day}, ₽`, `Лимит ${day}, ₽`],
  noLimit: ['No limit', 'Без лимита'],
  onlyTest: [
    'Owners create live keys, after live mode is approved.',
    'Боевые ключи создаёт владелец после одобрения боевого режима.',
  ],
  roll: ['Roll', 'Заменить'],
  rollSays: (key: string) => [
    `You get a new key with the same rights. Key ${key} stays valid for the time you choose, so that you can switch without a gap.`,
    `Вы получите новый ключ с теми же правами. Ключ ${key} будет действовать ещё выбранное время, чтобы вы перешли без перерыва.`,
  ],
  overlap: ['Old key', 'Старый ключ'],
  overlaps: {
    '0': ['Revoke immediately', 'Отключить сразу'],
    '1': ['1 hour', '1 час'],
    '24': ['24 hours', '24 часа'],
    '168': ['7 days', '7 дней'],
  },
  rolledTo: (key: string) => [`Already rolled: the new key is ${key}`, `Уже заменён: новый ключ — ${key}`],
  revokeSays: (key: string) => [
    `Key ${key} stops working at once. This cannot be undone.`,
    `Ключ ${key} сразу перестанет работать. Отменить это нельзя.`,
  ],
  scopes: (scopes: string[]) =>
    scopes.length > 1
      ? ['Everything', 'Все']
      : scopes[0] === 'read'
        ? ['Read', 'Чтение']
        : ['Pay', 'Платежи'],
  scopeChoice: {
    both: ['Everything', 'Все права'],
    read: ['Read only', 'Только чтение'],
    pay: ['Pay only', 'Только платежи'],
  },
  limits: (payment: string | null, day: string | null) => [
    [payment && ` · ≤ ${amountIn('en', payment)} ₽`, day && ` · ≤ ${amountIn('en', day)} ₽ a day`].join(''),
    [payment && ` · до ${amountIn('ru', payment)} ₽`, day && ` · до ${amountIn('ru', day)} ₽ в день`].join(
      '',
    ),
  ],
  none: ['No keys yet', 'Ключей пока нет'],
  noneHint: [
    'Create a test key and try the API: test payments cost nothing.',
    'Создайте тестовый ключ и попробуйте API: тестовые платежи ничего не стоят.',
  ],
});
