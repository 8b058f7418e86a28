import { inBoth } from '../../texts/language.ts';

export const texts = inBoth({
  errors: {
    no_connection: ['The service cannot be reached. Retrying…', 'Сервис недоступен. Пробуем ещё раз…'],
    no_answer: [
      'The connection was lost before the response arrived. The action may have been completed: check the current state before you try again.',
      'Связь прервалась до ответа. Действие могло выполниться: проверьте текущее состояние, прежде чем повторять.',
    ],
    signed_out: [
      'Your session has ended. Open a new link from the bot.',
      'Сеанс завершён. Откройте новую ссылку из бота.',
    ],
    no_link: [
      'This link was already used, replaced by a newer one, or is older than 10 minutes. Get a new one from the bot.',
      'Ссылка уже использована, заменена новой или старше 10 минут. Получите новую в боте.',
    ],
    throttled: ['Too many requests.', 'Слишком много запросов.'],
    rate_limited: [
      'Too many requests. Try again in a moment.',
      'Слишком много запросов. Повторите через несколько секунд.',
    ],
    forbidden: ['Your role in the team does not allow this.', 'Ваша роль в команде этого не позволяет.'],
    csrf: [
      'This page is out of date. Reload it and try again.',
      'Страница устарела. Обновите её и повторите.',
    ],
    no_partner: ['You are no longer in the team of this company.', 'Вы больше не в команде этой компании.'],
    not_found: ['Not found. It may have been deleted.', 'Не найдено. Возможно, уже удалено.'],
    left_archive: [
      'The payments of this period are no longer stored.',
      'Платежи за этот период больше не хранятся.',
    ],
    invalid_request: ['The form has an error.', 'Форма заполнена с ошибкой.'],
    unavailable: ['The service is temporarily unavailable.', 'Сервис временно недоступен.'],
    partner_suspended: [
      'The partner is suspended, so this is not possible now.',
      'Доступ партнёра приостановлен, поэтому сейчас это недоступно.',
    ],
    not_approved: [
      'Live mode is not approved yet. Until then, use test mode.',
      'Боевой режим ещё не одобрен. Пока пользуйтесь тестовым.',
    ],
    already_revoked: ['The key is already revoked.', 'Ключ уже отозван.'],
    already_expired: ['The key has expired.', 'Срок действия ключа истёк.'],
    already_rolled: ['The key was already rolled.', 'Ключ уже заменён.'],
    overlap_too_long: [
      'The old key can stay valid for seven days at most.',
      'Старый ключ может действовать не дольше семи дней.',
    ],
    no_key: ['Key not found.', 'Ключ не найден.'],
    too_many_keys: [
      'There are 20 active keys in this mode, the maximum. Revoke one that you do not need.',
      'В этом режиме уже 20 действующих ключей, это максимум. Отзовите ненужный.',
    ],
    too_many_rolled_keys: [
      '20 rolled keys of this mode are still valid, the maximum. Revoke one, or let the old key end at once.',
      'В этом режиме ещё действуют 20 заменённых ключей, это максимум. Отзовите один из них или отключите старый ключ сразу.',
    ],
    too_many_key_changes: [
      'The keys were changed too often today. Try again tomorrow (UTC). A key can still be revoked.',
      'Сегодня ключи меняли слишком часто. Повторите завтра (по UTC). Отозвать ключ можно и сейчас.',
    ],
    too_many_changes: [
      'You have made too many changes today. Try again tomorrow (UTC).',
      'Сегодня вы внесли слишком много изменений. Повторите завтра (по UTC).',
    ],
    bad_address: [
      'Enter an address that begins with https:// and is reachable from the internet.',
      'Укажите URL, который начинается с https:// и доступен из интернета.',
    ],
    no_webhook: ['This endpoint does not exist any more.', 'Этого обработчика больше нет.'],
    too_many_endpoints: [
      'A mode has five endpoints at most.',
      'В каждом режиме может быть не больше пяти обработчиков.',
    ],
    contract_events: [
      'The first endpoint always gets payment.succeeded and payment.failed.',
      'Первый обработчик всегда получает payment.succeeded и payment.failed.',
    ],
    overlap: [
      'The secret was changed less than 24 hours ago, and the old one is still valid. Try again later.',
      'Секрет меняли меньше 24 часов назад, и старый ещё действует. Повторите позже.',
    ],
    not_again_today: [
      'The test balance was already refilled today. Try again tomorrow (UTC).',
      'Сегодня тестовый баланс уже пополняли. Повторите завтра (UTC).',
    ],
    no_member: ['This person is no longer in the team.', 'Этого человека уже нет в команде.'],
    last_owner: [
      'This is the last owner. Make somebody else an owner first.',
      'Это последний владелец. Сначала назначьте другого.',
    ],
    too_many: [
      'One person can be the owner of five companies at most.',
      'Один человек может быть владельцем не больше чем пяти компаний.',
    ],
    too_many_today: [
      'You have added five companies today. Try again tomorrow.',
      'Сегодня вы добавили пять компаний. Повторите завтра.',
    ],
    image_too_large: [
      'This picture is too large. Choose one with at most 12 megapixels (PNG: 8 bits per channel), or paste the link.',
      'Изображение слишком большое. Выберите до 12 мегапикселей (PNG — 8 бит на канал) или вставьте ссылку.',
    ],
    no_qr_code: [
      'There is no readable QR code in this picture. Take a sharper photo or paste the link.',
      'Не удалось прочитать QR-код на изображении. Сделайте фото чётче или вставьте ссылку.',
    ],
    invalid_qr: [
      'This is not a link of an SBP QR code, or the code has expired.',
      'Это не ссылка из QR-кода СБП, или срок действия кода истёк.',
    ],
    unsupported_qr: [
      'This code is for a subscription or for linking an account. It cannot be paid.',
      'Это код для подписки или привязки счёта, оплатить его нельзя.',
    ],
    unsupported_variable_amount: ['This code has no fixed amount.', 'В этом коде нет суммы.'],
    qr_unresolvable: [
      'The details of this code could not be obtained. Try again later.',
      'Не удалось получить данные этого кода. Попробуйте позже.',
    ],
    gateway_busy: [
      'Too many requests are under way at the same time. Try again later.',
      'Слишком много запросов одновременно. Попробуйте позже.',
    ],
    gateway_unavailable: [
      'The payment gateway does not respond. Try again later.',
      'Платёжный шлюз не отвечает. Попробуйте позже.',
    ],
    rate_unavailable: [
      'There is no rate yet. Try again in a minute.',
      'Курса пока нет. Попробуйте через минуту.',
    ],
    no_invitation: [
      'This invitation was already used, has expired or does not exist. Ask for a new one.',
      'Приглашение уже использовано, истекло или не существует. Попросите новое.',
    ],
    team_full: [
      'The team is full. Ask an owner to remove somebody, then try again.',
      'В команде нет свободных мест. Попросите владельца кого-нибудь удалить и повторите.',
    ],
    below_minimum: ['The amount is below your minimum payment.', 'Сумма меньше вашего минимального платежа.'],
    amount_limit_exceeded: [
      'The amount is above your maximum payment.',
      'Сумма больше вашего максимального платежа.',
    ],
    amount_mismatch: [
      'The amount of the code has changed. Check the code again.',
      'Сумма в коде изменилась. Проверьте код ещё раз.',
    ],
    qr_changed: ['The code has changed. Check it again.', 'Код изменился. Проверьте его ещё раз.'],
    by_hand_payment_limit_exceeded: [
      'The amount is above the limit for one payment by hand. An owner can change it in the settings.',
      'Сумма больше лимита на один платёж вручную. Владелец может изменить его в настройках.',
    ],
    by_hand_daily_limit_exceeded: [
      'With this payment, the daily limit of payments by hand would be exceeded. An owner can change it in the settings.',
      'С этим платежом будет превышен дневной лимит платежей вручную. Владелец может изменить его в настройках.',
    ],
    daily_limit_exceeded: [
      'With this payment, your daily limit would be exceeded.',
      'С этим платежом будет превышен ваш дневной лимит.',
    ],
    insufficient_balance: ['The balance is too low.', 'На балансе недостаточно средств.'],
    recipient_blocked: ['Payments to this recipient are blocked.', 'Платежи этому получателю заблокированы.'],
    duplicate_qr_in_flight: [
      'A payment of this code is already under way. See the list of payments.',
      'Платёж по этому коду уже выполняется. Посмотрите список платежей.',
    ],
    idempotency_conflict: [
      'This confirmation belongs to another payment. See the list of payments.',
      'Это подтверждение относится к другому платежу. Посмотрите список платежей.',
    ],
    maintenance: [
      'Scheduled maintenance: payments are paused. Try again later.',
      'Идут технические работы, платежи приостановлены. Повторите позже.',
    ],
    too_many_addresses: [
      'The report goes to five addresses at most. Remove one first.',
      'Отчёт можно отправлять не больше чем на пять адресов. Сначала удалите один из них.',
    ],
    wrong_code: ['The code is wrong. Enter the code from the mail.', 'Код неверный. Введите код из письма.'],
    code_expired: [
      'The code is not valid any more. Remove the address and add it again.',
      'Код больше не действует. Удалите адрес и добавьте его снова.',
    ],
    no_session: ['This session has already ended.', 'Этот сеанс уже завершён.'],
    stale: [
      'This has changed in the meantime. Check the current state and try again.',
      'Данные изменились. Проверьте текущее состояние и повторите.',
    ],
    internal_error: ['Something went wrong on our side.', 'Произошла ошибка на нашей стороне.'],
  },
  nav: {
    overview: ['Overview', 'Обзор'],
    payments: ['Payments', 'Платежи'],
    balance: ['Balance and deposits', 'Баланс и пополнения'],
    statements: ['Reports and statements', 'Отчёты и выписки'],
    rate: ['Rate and quotes', 'Курс и котировки'],
    qr: ['QR codes', 'QR-коды'],
    keys: ['API keys', 'API-ключи'],
    webhook: ['Webhook', 'Вебхук'],
    requests: ['API requests', 'Запросы к API'],
    team: ['Team', 'Команда'],
    settings: ['Settings', 'Настройки'],
  },
  // In the time zone of the partner, which the menu names.
  at: ['Time', 'Время'],
  expires: ['Expires', 'Действует до'],
  next: ['Next attempt', 'Следующая попытка'],
  timeZone: (zone: string) => [`Time: ${zone}`, `Время: ${zone}`],
  /** The daily limits count days of UTC. */
  limitDay: (start: string, zone: string) => [
    zone === 'UTC' ? 'per day (UTC)' : `per day, from ${start} to ${start} (${zone})`,
    zone === 'UTC' ? 'в день (UTC)' : `за сутки с ${start} до ${start} (${zone})`,
  ],
  documentation: ['Documentation ↗', 'Документация ↗'],
  documentationPath: ['/docs/', '/docs/ru/'],
  serviceStatus: ['Service status ↗', 'Статус сервиса ↗'],
  statusPath: ['/status', '/ru/status'],
  live: ['Live', 'Боевой'],
  test: ['Test', 'Тест'],
  suspended: [
    'This partner is suspended: new payments are refused.',
    'Доступ партнёра приостановлен: новые платежи не принимаются.',
  ],
  suspendedOtherwise: ['Payments in progress will be completed.', 'Начатые платежи завершатся.'],
  contactSupport: ['Contact support', 'Написать в поддержку'],
  signIn: {
    title: ['Partner portal', 'Личный кабинет'],
    lead: ['Kopeck · sign in with Telegram', 'Kopeck · вход через Telegram'],
    how: [
      'Open our Telegram bot and press “Portal” in the menu.\nThe bot sends a link that signs you in. It works once, within 10 minutes.',
      'Откройте нашего бота в Telegram и нажмите «Личный кабинет» в меню.\nБот пришлёт ссылку для входа. Она действует 10 минут и только один раз.',
    ],
    again: [
      'Close this window and open the portal from the bot again.',
      'Закройте это окно и снова откройте личный кабинет из бота.',
    ],
    openBot: ['Open the bot', 'Открыть бота'],
    signIn: ['Sign in', 'Войти'],
    remember: ['Stay signed in on this device for 30 days', 'Не выходить на этом устройстве 30 дней'],
    rememberSays: [
      'Only if nobody else uses it. You can sign out in the settings at any time.',
      'Только если им пользуетесь лишь вы. Завершить сеанс можно в настройках в любой момент.',
    ],
  },
  otherPerson: {
    title: ['Change the account?', 'Сменить аккаунт?'],
    now: ['You are signed in as', 'Сейчас вы вошли как'],
    somebodyElse: [
      'Another person was signed in in this browser before.',
      'Раньше в этом браузере входил другой человек.',
    ],
    arriving: ['This link signs in', 'Ссылка откроет аккаунт'],
    telegramId: (id: string) => [`Telegram ID ${id}`, `Telegram ID ${id}`],
    noPartners: ['Not in a team', 'Не состоит в команде'],
    warning: [
      'If you did not ask our bot for this link, do not change the account: somebody may want you to top up a foreign balance.',
      'Если вы не запрашивали эту ссылку у нашего бота, не меняйте аккаунт: вас могут подтолкнуть пополнить чужой баланс.',
    ],
    stay: ['Keep the current account', 'Остаться в текущем аккаунте'],
    doNotSignIn: ['Do not sign in', 'Не входить'],
    change: ['Sign in with the other account', 'Войти в другой аккаунт'],
  },
  noPartner: {
    title: ['You are not in a team', 'Вы не состоите в команде'],
    lead: [
      'Ask an owner for an invitation, or add your own company.',
      'Попросите владельца прислать приглашение или добавьте свою компанию.',
    ],
  },
  newPartner: {
    name: ['Name', 'Название'],
    hint: [
      'Test mode works at once. Live mode opens after our approval.',
      'Тестовый режим работает сразу, боевой откроется после нашего одобрения.',
    ],
    create: ['Add company', 'Добавить компанию'],
    created: ['Company added', 'Компания добавлена'],
  },
  join: {
    label: ['Invitation', 'Приглашение'],
    hint: ['The link that an owner has sent you.', 'Ссылка, которую прислал владелец.'],
    join: ['Join', 'Вступить'],
    joined: ['You are in the team', 'Вы в команде'],
  },
});
