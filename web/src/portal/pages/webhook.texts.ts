import { inBoth, type Words } from '../texts/index.ts';

export const texts = inBoth({
  lead: [
    'We send an event to this address when a payment is completed.',
    'На этот адрес мы отправляем событие, когда платёж завершён.',
  ],
  log: ['Delivery log', 'Журнал доставки'],
  addFirstSays: ['It gets the events of both modes.', 'На него приходят события обоих режимов.'],
  addSays: (max: number) => [
    `A further endpoint gets the events that you choose, from now on. A mode has ${max} at most.`,
    `На дополнительный адрес приходят выбранные события, начиная с этого момента. В каждом режиме — не больше ${max} адресов.`,
  ],
  changeAddress: ['Change address', 'Изменить адрес'],
  changeAddressSays: ['Waiting events go to the new address.', 'Ожидающие события уйдут на новый адрес.'],
  events: ['Events', 'События'],
  bothModes: ['Live and test', 'Боевой и тест'],
  withEd25519: ['Add Ed25519 signature', 'Добавить подпись Ed25519'],
  withoutEd25519: ['Turn off Ed25519 signature', 'Отключить подпись Ed25519'],
  publicKeys: ['Ed25519 public keys', 'Открытые ключи Ed25519'],
  removeSays: (url: string) => [
    `${url} gets no more events, and those that wait for it are dropped.`,
    `${url} больше не получит событий, а ожидающие будут сняты с очереди.`,
  ],
  noEndpoint: ['No webhook yet', 'Вебхука пока нет'],
  noEndpointHint: [
    'Add the address of your server to get the outcome of payments at once.',
    'Добавьте адрес своего сервера, чтобы сразу узнавать результат платежей.',
  ],
  waiting: ['Waiting events', 'Ждут отправки'],
  givenUp: ['Failed events', 'Не доставлены'],
  oldSecret: ['The old secret signs until', 'Старый секрет подписывает до'],
  checked: ['Check completed', 'Проверка завершена'],
  secret: ['Signing secret', 'Секрет подписи'],
  secretSays: [
    'Verify the signature of every request with it. Keep it like a password.',
    'Проверяйте им подпись каждого запроса. Храните его как пароль.',
  ],
  twoSecrets: [
    'The first one is new. For 24 hours both sign, so that you can switch without a gap.',
    'Первый — новый. 24 часа подписывают оба, чтобы вы перешли без перерыва.',
  ],
  rotate: ['Change secret', 'Сменить секрет'],
  rotateSays: [
    'You get a new secret. The old one also signs for 24 hours.',
    'Вы получите новый секрет. Старый будет подписывать ещё 24 часа.',
  ],
  suspended: [
    'Sending is suspended: three events in a row were not delivered. Fix your endpoint and press “Check”. No event is lost: all are sent after a successful check.',
    'Отправка приостановлена: три события подряд не доставлены. Исправьте обработчик и нажмите «Проверить». События не потеряны: мы отправим их после успешной проверки.',
  ],
  checkTitle: ['Result of the check', 'Результат проверки'],
  passed: [
    'Your endpoint accepts valid events and rejects all others.',
    'Ваш сервер принимает верные события и отклоняет остальные.',
  ],
  canReceive: [
    'Your endpoint accepts valid events, but some checks failed.',
    'Ваш сервер принимает верные события, но часть проверок не пройдена.',
  ],
  cannotReceive: [
    'Your endpoint does not accept valid events. Fix it and check again.',
    'Ваш сервер не принимает верные события. Исправьте его и проверьте снова.',
  ],
  reEnabled: ['Sending was suspended and is active again.', 'Отправка была приостановлена и возобновлена.'],
  checks: {
    'a valid event': ['A valid event is accepted', 'Корректное событие принято'],
    'the same event again': ['The same event again is accepted', 'Повтор того же события принят'],
    'a wrong signature': ['A wrong signature is rejected', 'Неверная подпись отклонена'],
    'a timestamp ten minutes old': ['An old timestamp is rejected', 'Устаревшая метка времени отклонена'],
    'a changed body': ['A changed body is rejected', 'Изменённое тело отклонено'],
  } as Words,
  none: ['No deliveries yet', 'Доставок пока нет'],
  noneHint: ['Events of the last 30 days appear here.', 'Здесь появятся события за последние 30 дней.'],
  state: ['State', 'Состояние'],
  any: ['Any state', 'Любое состояние'],
  states: {
    pending: ['Pending', 'Ждёт'],
    delivered: ['Delivered', 'Доставлено'],
    failed: ['Failed', 'Не доставлено'],
    none: ['Not queued', 'Не в очереди'],
  } as Words,
  allDeliveries: ['← All deliveries', '← Все доставки'],
  resend: ['Send again', 'Отправить ещё раз'],
  resent: ['Queued. It is sent within seconds.', 'В очереди. Отправим за несколько секунд.'],
  body: ['Request body', 'Тело запроса'],
  noSignature: [
    'The signature is made for each attempt and not stored.',
    'Подпись создаётся для каждой попытки и не хранится.',
  ],
  attempt: (number: number) => [`Attempt ${number}`, `Попытка ${number}`],
});
