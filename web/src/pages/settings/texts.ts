import { inBoth } from '../../texts/index.ts';

export const texts = inBoth({
  parts: ['Settings sections', 'Разделы настроек'],
  service: ['Service', 'Сервис'],
  operators: ['Operators', 'Сотрудники'],
  sessions: ['Sessions', 'Сеансы'],
  maintenance: ['Maintenance', 'Технические работы'],
  isOn: ['On', 'Идут'],
  isOff: ['Off', 'Не идут'],
  onSays: [
    'New payments are rejected. Payments in progress are completed.',
    'Новые платежи не принимаются. Начатые платежи будут завершены.',
  ],
  offSays: ['New payments are accepted.', 'Новые платежи принимаются.'],
  begin: ['Start now', 'Начать сейчас'],
  beginSays: [
    'New payments of all partners are rejected until an administrator ends the maintenance. Payments in progress are completed. Partners are notified.',
    'Новые платежи всех партнёров не будут приниматься, пока администратор не завершит технические работы. Начатые платежи будут завершены. Партнёры получат уведомление.',
  ],
  end: ['End now', 'Завершить сейчас'],
  endSays: [
    'New payments are accepted again. Partners are notified.',
    'Новые платежи снова будут приниматься. Партнёры получат уведомление.',
  ],
  plan: ['Schedule', 'Запланировать'],
  planSays: [
    'The maintenance starts and ends automatically. Partners are notified now.',
    'Технические работы начнутся и завершатся автоматически. Партнёры получат уведомление сейчас.',
  ],
  windows: ['Scheduled maintenance', 'Запланированные технические работы'],
  noWindows: ['No maintenance scheduled', 'Технические работы не запланированы'],
  noWindowsHint: [
    'Scheduled maintenance starts and ends automatically.',
    'Запланированные работы начинаются и завершаются автоматически.',
  ],
  from: ['Start', 'Начало'],
  until: ['End', 'Окончание'],
  yourTime: ['Your local time', 'Ваше местное время'],
  endsBefore: ['The end must be after the start.', 'Окончание должно быть позже начала.'],
  past: ['The end is in the past.', 'Время окончания уже прошло.'],
  plannedBy: ['Scheduled by', 'Кто запланировал'],
  callOff: ['Cancel maintenance', 'Отменить технические работы'],
  callOffSays: [
    'The maintenance is cancelled. If it is in progress, it ends now. Partners are notified.',
    'Технические работы будут отменены. Если они уже идут, то завершатся сейчас. Партнёры получат уведомление.',
  ],
  thresholds: ['Dual approval thresholds', 'Пороги подтверждения вторым сотрудником'],
  thresholdsSay: [
    'When the total of an operator within 24 hours exceeds a threshold, a second operator must approve the action.',
    'Если сумма операций сотрудника за 24 часа превышает порог, операцию должен подтвердить второй сотрудник.',
  ],
  resolveAbove: ['Payment resolution above', 'Завершение платежа свыше'],
  creditAbove: ['Balance credit above', 'Пополнение баланса свыше'],
  changeSays: [
    'The new thresholds apply to new actions. Pending requests still need approval.',
    'Новые пороги действуют для новых операций. Ожидающие запросы всё равно нужно подтвердить.',
  ],
  raised: [
    'Higher thresholds let one operator do more alone. A second administrator must approve this change.',
    'Чем выше порог, тем больше один сотрудник может сделать сам. Это изменение должен подтвердить второй администратор.',
  ],
  notAnAmount: ['Enter an amount.', 'Введите сумму.'],
  stale: [
    'Another operator has changed the thresholds in the meantime. Your changes were not saved.',
    'Другой сотрудник уже изменил пороги. Ваши изменения не сохранены.',
  ],
  takePresent: ['Start over with the current thresholds', 'Начать заново с текущих порогов'],
  operatorsSay: [
    'Operators who have access to this console. Each signs in with a password and a one-time code.',
    'Сотрудники с доступом к этой консоли. Каждый входит по паролю и одноразовому коду.',
  ],
  createOperator: ['New operator', 'Новый сотрудник'],
  createSays: [
    'You get a one-time setup link. With it the new operator chooses a password and sets up the authenticator app.',
    'Вы получите одноразовую ссылку. По ней новый сотрудник задаст пароль и настроит приложение-аутентификатор.',
  ],
  create: ['Create', 'Создать'],
  nameHint: [
    '2 to 40 Latin letters, digits, dots or hyphens',
    'От 2 до 40 латинских букв, цифр, точек или дефисов',
  ],
  you: ['you', 'вы'],
  changeRole: ['Change role', 'Изменить роль'],
  roleSays: {
    viewer: ['Sees everything, changes nothing.', 'Видит всё, ничего не меняет.'],
    support: [
      'Checks payment statuses, resolves payments, revokes keys, suspends partners, blocks recipients.',
      'Проверяет статусы платежей, завершает платежи, отзывает ключи, приостанавливает партнёров, блокирует получателей.',
    ],
    finance: [
      'Approves partners, credits balances, sets limits and rates, resolves payments, verifies the ledger.',
      'Одобряет партнёров, пополняет балансы, задаёт лимиты и курсы, завершает платежи, проверяет учёт.',
    ],
    admin: [
      'Has all permissions, including operators, maintenance and dual approval thresholds.',
      'Все права, в том числе сотрудники, технические работы и пороги подтверждения.',
    ],
  },
  changeRoleSays: [
    'The new role applies from the next request.',
    'Новая роль действует со следующего запроса.',
  ],
  lastSeen: ['Last active', 'Последняя активность'],
  since: ['Created', 'Добавлен'],
  notYourself: [
    'You cannot do this for yourself. Ask another administrator.',
    'Для себя это сделать нельзя. Попросите другого администратора.',
  ],
  reset: ['Reset access', 'Сбросить доступ'],
  disable: ['Disable', 'Отключить'],
  enable: ['Enable', 'Включить'],
  deedSays: {
    reset: [
      'The password and the authenticator app stop working, and all sessions end immediately. You get a new one-time setup link.',
      'Пароль и приложение-аутентификатор перестанут действовать, все сеансы сразу завершатся. Вы получите новую одноразовую ссылку.',
    ],
    disable: [
      'All sessions end immediately. The operator cannot sign in until enabled again.',
      'Все сеансы сразу завершатся. Сотрудник не сможет войти, пока его не включат снова.',
    ],
    enable: ['The operator can sign in again.', 'Сотрудник снова сможет войти.'],
  },
  linkTitle: ['Setup link', 'Ссылка для настройки доступа'],
  linkSays: [
    'Send this link to the operator over a secure channel. The first person to open it gets access.',
    'Отправьте ссылку сотруднику по защищённому каналу. Доступ получит тот, кто откроет её первым.',
  ],
  linkOnce: ['The link is shown only once.', 'Ссылка показывается только один раз.'],
  linkUntil: ['It can be used once, until', 'Её можно использовать один раз, до'],
  linkKept: ['I have copied the link', 'Ссылка скопирована'],
  allSessions: ['All active sessions of all operators.', 'Все активные сеансы всех сотрудников.'],
  ownSessions: [
    'Your active sessions. End a session that you do not recognise and tell an administrator.',
    'Ваши активные сеансы. Завершите незнакомый сеанс и сообщите администратору.',
  ],
  operator: ['Operator', 'Сотрудник'],
  thisOne: ['current', 'текущий'],
  address: ['IP address', 'IP-адрес'],
  startedAt: ['Started', 'Начат'],
  ends: ['Expires', 'Истекает'],
  revoke: ['End session', 'Завершить сеанс'],
  revokeSays: ['The operator is signed out immediately.', 'Сотрудник сразу выйдет из консоли.'],
  revokeThis: [
    'This is your current session: you will be signed out.',
    'Это ваш текущий сеанс: вы выйдете из консоли.',
  ],
});
