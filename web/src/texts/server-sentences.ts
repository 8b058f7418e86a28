import { depositSentences } from './deposit-sentences.ts';

/**
 * What the server writes in English, such as the detail of an alarm, and the same in Russian. `{}` is what differs each
 * time; it keeps its place, and is translated as well if it is listed here. The first that fits counts.
 */
export const sentences: [english: string, russian: string][] = [
  // Filters
  [
    'Several partners match this name: enter the partner ID.',
    'Это название подходит нескольким партнёрам: укажите ID партнёра.',
  ],
  // Partners
  ['Enter plain text of up to 2000 characters.', 'Введите обычный текст до 2000 символов.'],
  // Requests
  [
    'Your request was not saved. Request {} by {} is already waiting for approval. {}',
    'Ваш запрос не сохранён: подтверждения уже ждёт запрос {}, автор — {}. {}',
  ],
  ['New status: {}.', 'Новый статус: {}.'],
  ['Amount: {} USDT.', 'Сумма: {} USDT.'],
  ['Thresholds: {} RUB, {} USDT.', 'Пороги: {} ₽ и {} USDT.'],
  // Alarms
  [
    'The payment gateway does not respond: new payments are refused until it does.',
    'Платёжный шлюз не отвечает: новые платежи не принимаются, пока он не ответит.',
  ],
  [
    'Process {} on {}: {}. Synchronize it with NTP. If all machines report this, the clock of the database server is wrong.',
    'Процесс {} на {}: {}. Синхронизируйте часы по NTP. Если об этом сообщают все серверы, неверны часы сервера базы данных.',
  ],
  [
    "the clock of this machine is {} s {} the database's",
    'расхождение часов этого сервера с базой данных: {} с ({})',
  ],
  ['ahead of', 'спешат'],
  ['behind', 'отстают'],
  [
    'New payments are paused until the payment gateway lists the orders that this database may have lost: {}',
    'Новые платежи приостановлены, пока платёжный шлюз не передаст список поручений, которых может не быть в базе: {}',
  ],
  [
    'The database may have lost commits, and late orders cannot be found without the list of the payment gateway: {}',
    'База могла потерять последние записи, а без списка из платёжного шлюза запоздалые поручения не найти: {}',
  ],
  [
    'The payment gateway has orders that this database did not send ({}). If another installation uses the same gateway, such as a copy of this one, stop one of the two. New payments are paused until no such order has appeared for 10 s.',
    'В платёжном шлюзе есть поручения, которых эта база не отправляла ({}). Если с этим шлюзом работает другая установка, например копия этой, остановите одну из них. Новые платежи приостановлены, пока такие поручения не перестанут появляться на 10 с.',
  ],
  [
    'The payment gateway returned no list of {} ({}): check GATEWAY_URL and that it responds.',
    'Платёжный шлюз не передал список {} ({}): проверьте GATEWAY_URL и доступность шлюза.',
  ],
  ['orders', 'поручений'],
  ['refunds', 'возвратов'],
  [
    'The refund list of the payment gateway has no end: its cursors must be fixed.',
    'список возвратов не заканчивается: ошибка постраничной выдачи шлюза',
  ],
  [
    'the list of orders has no end: the gateway must fix its cursors',
    'список поручений не заканчивается: ошибка постраничной выдачи шлюза',
  ],
  [
    'The payment gateway has an order for {} RUB ({}) without a payment here. {}',
    'В платёжном шлюзе есть поручение на {} ₽ ({}), для которого у нас нет платежа. {}',
  ],
  [
    'Its reference cannot be read. If SECRET_KEY was replaced, add the key of that time to SECRET_KEY_PREVIOUS and restart: then the payment is restored. Otherwise find out whose it is, then release it.',
    'Ссылка на платёж не читается. Если SECRET_KEY меняли, добавьте прежний ключ в SECRET_KEY_PREVIOUS и перезапустите сервис: платёж восстановится. Иначе выясните, чьё это поручение, и снимите блокировку.',
  ],
  [
    'Its partner is not in this database. Create the partner again, or release the order.',
    'Партнёра нет в базе. Создайте его заново или снимите блокировку поручения.',
  ],
  [
    'Its idempotency key belongs to another payment. Find out which one is right, then release it.',
    'Ключ идемпотентности занят другим платежом. Выясните, какой из них верный, и снимите блокировку.',
  ],
  [
    'An earlier payment of the same QR code is not completed. The payment is restored when that one is.',
    'Предыдущий платёж по этому QR-коду не завершён. Когда он завершится, этот будет восстановлен.',
  ],
  [
    'The balance is too low. Credit the lost top-ups again; then the payment is restored.',
    'Недостаточно средств на балансе. Зачислите утраченные пополнения ещё раз, и платёж будет восстановлен.',
  ],
  [
    'Not completed since {} UTC. Find out its status at the payment gateway, then resolve it in the console or with kopeck payment resolve.',
    'Не завершён с {} UTC. Выясните его статус в платёжном шлюзе и завершите платёж в консоли или командой kopeck payment resolve.',
  ],
  [
    'The payment is {}, but the gateway now reports {}.',
    'Статус платежа: {}, а шлюз теперь сообщает другой: {}.',
  ],
  ['{} (order {})', '{} (поручение {})'],
  ['an order over another amount ({} kopecks)', 'в поручении другая сумма ({} коп.)'],
  ['{} (reconciliation {}).', '{} (сверка {}).'],
  ['The gateway has paid it, but it has not succeeded here', 'В шлюзе оплачен, а у нас нет'],
  ['It has succeeded here, but the gateway has not paid it', 'У нас оплачен, а в шлюзе нет'],
  ['The amounts here and at the gateway differ', 'Суммы у нас и в шлюзе различаются'],
  [
    'Three events in a row were not delivered. Webhooks are suspended until a check of the endpoint succeeds.',
    'Три события подряд не доставлены. Отправка вебхуков приостановлена до успешной проверки обработчика.',
  ],
  [
    'The webhook secret cannot be decrypted, so no events are sent. Create a new one with kopeck webhook rotate --force.',
    'Секрет вебхука не удаётся расшифровать, события не отправляются. Создайте новый командой kopeck webhook rotate --force.',
  ],
  [
    '{} connected and no commit waits for one: a fail-over would lose payments. Set synchronous_standby_names on the server.',
    'Подключено резервных серверов: {}, но запись их не дожидается, и при переключении платежи потеряются. Задайте synchronous_standby_names на сервере.',
  ],
  ['{} standby is', '{}'],
  ['{} standbys are', '{}'],
  [
    'The nightly archive run failed: {}. No row is lost, and the run is repeated every hour. If it keeps failing, correct the cause: until then the live tables grow.',
    'Ночной перенос в архив не выполнен: {}. Данные не потеряны, попытка повторяется каждый час. Если ошибка остаётся, устраните её причину: до этого рабочие таблицы растут.',
  ],
  ['WAL file {} could not be archived at {}. {}.', 'Файл WAL {} не удалось архивировать, время {}. {}.'],
  ['{} to be archived. {}.', '{}. {}.'],
  ['{} segments of WAL wait', 'Ожидают архивации сегментов WAL: {}'],
  ['WAL has waited for {} s', 'WAL ожидает архивации, секунд: {}'],
  [
    'What was committed since then is in no backup, and the disk of the server fills. See its log, and what archive_command needs',
    'Более поздних данных нет в резервной копии, и диск сервера заполняется. Проверьте журнал сервера и archive_command',
  ],
  ...depositSentences,
  // Rates
  ['{}, more than {}% from the median {}', '{}, отклонение от медианы больше {} %, медиана {}'],
  ['{}, outside of RATE_MIN and RATE_MAX ({} to {})', '{}, вне пределов RATE_MIN и RATE_MAX (от {} до {})'],
  [
    'the first rate needs two sources that agree: {}; correct RATE_SOURCES, or run once with fixed: and the right rate',
    'для первого курса нужны два совпадающих источника: {}; исправьте RATE_SOURCES или запустите один раз с fixed: и верным курсом',
  ],
  [
    'rejected: from {} to {}, quoted by {} alone; if it is right, add a source to RATE_SOURCES or run once with fixed:{}',
    'отклонён: с {} до {}, котирует только {}; если курс верный, добавьте источник в RATE_SOURCES или запустите один раз с fixed:{}',
  ],
  ['{} quotes {}', '{}: {}'],
  ['there are no sources', 'нет источников'],
  ['answered with HTTP status {}', 'ответ HTTP {}'],
  ['answered with something that is not JSON', 'ответ не в формате JSON'],
  ['its time is in the future', 'время котировки в будущем'],
  ['the price is too small', 'цена слишком мала'],
  [
    'The payment gateway lists a refund of {} RUB for {}. It is not booked: {}.',
    'В списке шлюза есть возврат на {} ₽ по платежу {}. Он не проведён: {}.',
  ],
  [
    'Nothing is debited by itself: clarify it with the payment gateway and the partner.',
    'Автоматически ничего не списывается: выясните это со шлюзом и партнёром.',
  ],
  ['another refund with this id is booked', 'под этим номером проведён другой возврат'],
  ['there is no such live payment here', 'такого боевого платежа у нас нет'],
  ['the payment has not succeeded here', 'у нас платёж не оплачен'],
  ['with it more would be refunded than was paid', 'вместе с ним возвращено было бы больше, чем оплачено'],
  ['its reference was used for a top-up', 'его основание уже использовано для пополнения'],
  [
    'The payment gateway lists a refund of {} RUB for {} as revoked, but it is booked. {}',
    'В списке шлюза возврат на {} ₽ по платежу {} отозван, но у нас он проведён. {}',
  ],
  [
    'The refund is booked, but the payment gateway no longer lists it. {}',
    'Возврат проведён, но в списке шлюза его больше нет. {}',
  ],
  // Findings of the ledger verification
  ['refund {} of {}, entry {} of {}', 'возврат {} на {}, проводка {} на {}'],
  [
    'refund {}: {} kopecks and {} micro-USDT, its totals are {} and {}',
    'возврат {}: {} копеек и {} микро-USDT, итоги в нём {} и {}',
  ],
  [
    'refund {}: {} of {} kopecks of a payment that is {}, {} of {} micro-USDT',
    'возврат {}: {} из {} копеек, статус платежа {}, {} из {} микро-USDT',
  ],
  ['{} is {}, its entries say {}', 'счёт «{}»: остаток {}, по проводкам {}'],
  ['they sum to {}', 'сумма равна {}'],
  ['available {}, held {}, settled {}', 'доступно {}, зарезервировано {}, списано {}'],
  [
    '{} entries and {} skipped numbers, the last is number {}, the account says {}',
    'проводок {}, пропущено номеров {}, последний номер {}, на счёте {}',
  ],
  ['entry {} has a number that was skipped', 'у проводки {} пропущенный номер'],
  ['entry {} is of {}, the one before it of {}', 'проводка {}: время {}, у предыдущей {}'],
  ['{} entries from entry {} on, the last of {}', 'проводок {}, начиная с {}, время последней {}'],
  ['the next entry would be of {}', 'время следующей проводки: {}'],
  ['entry {} leaves {} at {}, it says {}', 'проводка {}, счёт «{}»: остаток {}, указано {}'],
  [
    'payment {}: {} holds of {}, {} settles, {} releases',
    'платёж {}: резервирований {} на сумму {}, списаний {}, снятий резерва {}',
  ],
  ['{} credits for "{}"', 'пополнений: {}, основание «{}»'],
  ['held is {}, open holds are {}', 'зарезервировано {}, открытые резервы {}'],
  ['the turnover of {} is {}, its payments say {}', 'оборот за {}: {}, по платежам {}'],
  ['payment {} is left without its entries', 'у платежа {} нет проводок'],
  ['{} of {}: {} rows were archived, {} are there{}', '{} за {}: в архив перенесено {}, найдено {}{}'],
  [', and they differ', ', содержимое различается'],
  ['the key of payment {}', 'ключ платежа {}'],
  ['entry {}', 'проводка {}'],
  ['payment {}', 'платёж {}'],
  ['event {}', 'событие {}'],
  // Forms
  ['A name is one line of up to 128 characters.', 'Название: одна строка до 128 символов.'],
  ['A reason is one line of up to 128 characters.', 'Причина: одна строка до 128 символов.'],
  ['A recipient is one line of up to 128 characters.', 'Получатель: одна строка до 128 символов.'],
  ['A reference is one line of up to 128 characters.', 'Основание: одна строка до 128 символов.'],
  ['Enter a reason of 1 to 128 characters.', 'Укажите причину, от 1 до 128 символов.'],
  ['A filter is not valid: check the filters.', 'Проверьте фильтры: одно из значений некорректно.'],
  ['This day does not exist or has not started.', 'Такого дня нет, или он ещё не начался.'],
  ['Page not found.', 'Страница не найдена.'],
  ['This time does not exist.', 'Такого времени нет.'],
  ['The minimum amount must be above zero.', 'Минимальная сумма должна быть больше нуля.'],
  ['The amount must be above zero.', 'Сумма должна быть больше нуля.'],
  [
    '"{}" is not an IP address or range, such as 192.0.2.7 or 2001:db8::/32.',
    '«{}» — не IP-адрес и не диапазон. Пример: 192.0.2.7 или 2001:db8::/32.',
  ],
  // What the schema of a request says about a field
  ['Field required', 'обязательное поле'],
  ['Input is not valid', 'недопустимое значение'],
  ['Input should be a valid string', 'нужен текст'],
  ['Input should be a valid dictionary', 'нужен объект'],
  ['Input should be a valid integer', 'нужно целое число'],
  ['Input should be a valid integer, unable to parse string as an integer', 'нужно целое число'],
  ['Input should be a valid {}', 'нужно значение типа {}'],
  ['Input should be greater than or equal to {}', 'не меньше {}'],
  ['Input should be less than or equal to {}', 'не больше {}'],
  ['Input should be {}', 'допустимые значения: {}'],
  ['String should have at most {} characters', 'не больше символов: {}'],
  ['String should have at least {} characters', 'не меньше символов: {}'],
  ['A threshold is raised.', 'Порог повышается.'],
  ['kopeck: test balance', 'kopeck: тестовый баланс'],
  ['kopeck: test balance of {}', 'kopeck: тестовый баланс за {}'],
  // Single words
  ['Error', 'Ошибка'],
  ['processing', 'в обработке'],
  ['pending', 'в обработке'],
  ['accepted', 'принят'],
  ['succeeded', 'оплачен'],
  ['failed', 'не прошёл'],
  ['credited', 'зачислено'],
  ['rejected', 'отклонён'],
  ['declined', 'отклонён'],
  ['voided', 'отменён'],
  ['stale', 'данные устарели'],
  ['outlier', 'отклонение от других'],
  ['topup', 'Пополнения'],
  ['treasury', 'Казначейство'],
  ['available', 'Доступно'],
  ['held', 'Зарезервировано'],
  ['settled', 'Списано'],
  ['payments', 'платежи'],
  ['events', 'события'],
  ['entries', 'проводки'],
  // Lists
  ['{}; {}', '{}; {}'],
  ['{}: {}', '{}: {}'],
];

/** A sentence that is not listed stays as it is. */
export function inRussian(text: string): string {
  for (const [english, russian] of sentences) {
    const parts = partsOf(english, text);
    if (parts) {
      const [start = '', ...rest] = russian.split('{}');
      return start + rest.map((piece, nth) => inRussian(parts[nth] ?? '') + piece).join('');
    }
  }
  return text;
}

/** What stands in the place of each `{}`; undefined if the text does not fit. */
function partsOf(pattern: string, text: string): string[] | undefined {
  const [first = '', ...pieces] = pattern.split('{}');
  if (!text.startsWith(first)) return undefined;
  if (pieces.length === 0) return text === pattern ? [] : undefined;
  const parts: string[] = [];
  let from = first.length;
  for (const [nth, piece] of pieces.entries()) {
    const isLast = nth === pieces.length - 1;
    const at = isLast ? text.length - piece.length : text.indexOf(piece, from);
    if (at < from || !text.startsWith(piece, at)) return undefined;
    parts.push(text.slice(from, at));
    from = at + piece.length;
  }
  return parts;
}
