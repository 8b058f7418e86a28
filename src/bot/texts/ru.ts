import { supportInRussian } from '../../base/support.ts';
import { type MemberRole, rolesWith } from '../../partners/index.ts';
import type { ShownPayment } from '../../payments/index.ts';
import { type CheckProblem, formatEventId, type Probed } from '../../webhooks/index.ts';
import { clip, escapeHtml as e } from '../conversation/screen.ts';
import type { NoticeDetails } from '../notices/outbox.ts';
import {
  marked,
  type Notices,
  type PaymentFilter,
  type SupportUrl,
  sampleLink,
  signs,
  stateOf,
  type Texts,
} from './en.ts';
import { formatsOf, named } from './formats.ts';

const { amount, rub, usdt, rate, time, text, decimal, moment, monthName } = formatsOf('ru');
const toSupport = (url: SupportUrl, otherwise: string, ask?: string) =>
  e(supportInRussian(url, otherwise, ask));

const suspended = (support: SupportUrl) =>
  `Доступ партнёра приостановлен: новые платежи не принимаются. ${toSupport(support, 'Начатые платежи завершатся, следите за ними в разделе «Платежи».')}`;

const scopeNames = { read: 'чтение', pay: 'оплата', both: 'чтение и оплата' };
const oneOf = new Intl.ListFormat('ru', { type: 'disjunction' });
const roles: Record<MemberRole, string> = {
  viewer: 'наблюдатель',
  accountant: 'бухгалтер',
  payer: 'плательщик',
  developer: 'разработчик',
  owner: 'владелец',
};
const modes: Record<string, string> = { live: 'боевой', test: 'тестовый' };
const statuses: Record<ShownPayment['status'], string> = {
  processing: 'в обработке',
  succeeded: 'оплачен',
  failed: 'не прошёл',
  rejected: 'отклонён',
};

/** As `responseText`, in Russian. */
const faults: Record<string, string> = {
  blocked_address: 'адрес запрещён',
  dns: 'ошибка DNS',
  refused: 'в соединении отказано',
  closed: 'соединение закрыто',
  timeout: 'время ожидания истекло',
  tls: 'ошибка TLS',
  busy: 'нет свободных соединений',
  bad_answer: 'некорректный ответ HTTP',
};
const responseOf = ({ status, error }: { status: number | null; error: string | null }) =>
  status === null ? (faults[error ?? ''] ?? error ?? '') : `${status}`;

const nameOf = ({ mode, status }: PaymentFilter) =>
  `режим: ${modes[mode]}${status ? `, статус: ${statuses[status]}` : ''}`;

const probeNames: Record<string, string> = {
  'a valid event': 'Корректное событие',
  'the same event again': 'То же событие ещё раз',
  'a wrong signature': 'Неверная подпись',
  'a timestamp ten minutes old': 'Метка времени десятиминутной давности',
  'a changed body': 'Изменённое тело',
};

/** As `problemText`, in Russian. */
const problems: Record<CheckProblem, (result: Probed) => string> = {
  accepted: ({ status }) => `сервер ответил ${status}`,
  refused: ({ status }) => `сервер ответил ${status}`,
  redirected: ({ status }) =>
    `сервер ответил ${status}, это перенаправление, а по ним мы не переходим: укажите конечный URL`,
  server_error: ({ status, expected }) =>
    expected === 'accept'
      ? `сервер ответил ${status}, это ошибка на его стороне`
      : `сервер ответил ${status}, это не отказ: отвечайте статусом от 400 до 499`,
  timeout: () => 'сервер не ответил вовремя',
  no_response: result => `ответа нет: ${responseOf(result)}`,
};

const modeNames = { live: 'боевой', test: 'тестовый', both: 'боевой и тестовый' };
/** Set if it is not about the first endpoint. */
const toUrl = (url: NoticeDetails[string] | undefined) => (url ? ` на <code>${text(url)}</code>` : '');

const notices: Notices = {
  delivery_failed: ({ event_id, url }, count) =>
    count === 1
      ? `📭 Событие <code>evt_${text(event_id)}</code> не доставлено${toUrl(url)} после 9 попыток. Подробности: Вебхук → Журнал.`
      : `📭 Не доставлено событий: ${count}, по 9 попыток на каждое. Подробности: Вебхук → Журнал.`,
  sending_suspended: ({ url }) =>
    `⛔ Отправка вебхуков${toUrl(url)} приостановлена: три события подряд не доставлены. Исправьте обработчик и нажмите Вебхук → Проверить. События не потеряются: мы отправим их после успешной проверки.`,
  sending_re_enabled: ({ url }) =>
    `✅ Отправка вебхуков${toUrl(url)} возобновлена. События из очереди уже отправляются.`,
  payment_in_review: (details, count) =>
    count === 1
      ? `⏳ Платёж <code>${text(details.payment_id)}</code>${named(details)} на ${decimal(details.amount_rub)} ₽ задерживается: банк ещё не подтвердил результат. Не платите повторно, мы следим за статусом.`
      : `⏳ Задерживаются платежи: ${count}. Банк ещё не подтвердил результат. Не платите повторно, мы следим за статусом.`,
  payment_review_ended: (details, count) =>
    count === 1
      ? `🏁 Платёж <code>${text(details.payment_id)}</code>${named(details)} завершён, статус: ${statuses[details.status as ShownPayment['status']] ?? text(details.status)}.`
      : `🏁 Завершены задержавшиеся платежи: ${count}.`,
  monthly_report: ({ month }) =>
    `📊 Отчёт за ${monthName(month)}\nВсе отчёты — на портале, в разделе «Отчёты и выписки».`,
  balance_low: ({ balance_usdt, mark_usdt }) =>
    `🪫 Низкий баланс (боевой): ${decimal(balance_usdt)} USDT. Порог уведомления — ${decimal(mark_usdt)} USDT.`,
  balance_credited: ({ mode, usdt, balance_usdt }, count) =>
    count === 1
      ? `💰 Зачислено: ${decimal(usdt)} USDT. Баланс (${modes[`${mode}`] ?? ''}): ${decimal(balance_usdt)} USDT.`
      : `💰 Пополнений: ${count}. Баланс (${modes[`${mode}`] ?? ''}): ${decimal(balance_usdt)} USDT.`,
  deposit_seen: ({ usdt, chain, minutes }, count) =>
    count === 1
      ? `👀 Поступает пополнение: ${decimal(usdt)} USDT, сеть ${text(chain)}. Зачислим после подтверждения в сети, обычно примерно через ${text(minutes)} мин.`
      : `👀 Поступают пополнения: ${count}. Зачислим после подтверждения в сети.`,
  key_created: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 Другой участник создал ключ (${modes[`${mode}`] ?? ''}): <code>${text(key_id)}</code>. Если вы этого не ожидали, отзовите его в разделе «Ключи».`
      : `🔐 Создано ключей: ${count}. Если вы этого не ожидали, отзовите их в разделе «Ключи».`,
  key_revoked: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 Другой участник отозвал ключ (${modes[`${mode}`] ?? ''}): <code>${text(key_id)}</code>.`
      : `🔐 Отозвано ключей: ${count}.`,
  key_addresses_changed: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 Другой участник изменил разрешённые IP-адреса ключа (${modes[`${mode}`] ?? ''}): <code>${text(key_id)}</code>. Если вы этого не ожидали, проверьте раздел «Ключи».`
      : `🔐 Изменений в разрешённых IP-адресах ключей: ${count}. Если вы этого не ожидали, проверьте раздел «Ключи».`,
  key_rolled: ({ key_id, new_key_id, mode, ends_at }, count) =>
    count === 1
      ? `🔐 Другой участник заменил ключ (${modes[`${mode}`] ?? ''}) <code>${text(key_id)}</code>: новый — <code>${text(new_key_id)}</code>, старый действует до ${moment(ends_at)}. Если вы этого не ожидали, проверьте раздел «Ключи».`
      : `🔐 Заменено ключей: ${count}. Если вы этого не ожидали, проверьте раздел «Ключи».`,
  key_expiring: ({ key_id, mode, expires_at }, count) =>
    count === 1
      ? `⌛ Ключ <code>${text(key_id)}</code> (${modes[`${mode}`] ?? ''}) действует до ${moment(expires_at)}. Замените его в разделе «Ключи» и установите новый заранее.`
      : `⌛ Скоро перестанут действовать ключи: ${count}. Замените их в разделе «Ключи» и установите новые.`,
  key_new_address: ({ key_id, mode, address }, count) =>
    count === 1
      ? `🔐 Запрос с ключом <code>${text(key_id)}</code> (${modes[`${mode}`] ?? ''}) пришёл с нового IP-адреса: <code>${text(address)}</code>. Если вы этого не ожидали, отзовите ключ в разделе «Ключи».`
      : `🔐 Запросы с ключами пришли с новых IP-адресов (${count}), последний — <code>${text(address)}</code>, ключ <code>${text(key_id)}</code>. Если вы этого не ожидали, проверьте раздел «Ключи».`,
  endpoint_added: ({ url }, count) =>
    count === 1
      ? `🔐 Добавлен обработчик вебхуков: <code>${text(url)}</code>. Если вы этого не ожидали, проверьте раздел «Вебхук».`
      : `🔐 Добавлено обработчиков вебхуков: ${count}. Если вы этого не ожидали, проверьте раздел «Вебхук».`,
  endpoint_moved: ({ url }, count) =>
    count === 1
      ? `🔐 URL обработчика вебхуков изменён. Теперь события приходят на <code>${text(url)}</code>. Если вы этого не ожидали, проверьте раздел «Вебхук».`
      : `🔐 Изменений URL обработчиков вебхуков: ${count}. Если вы этого не ожидали, проверьте раздел «Вебхук».`,
  endpoint_removed: ({ url }, count) =>
    count === 1
      ? `🔐 Обработчик вебхуков удалён: <code>${text(url)}</code>. События туда больше не отправляются.`
      : `🔐 Удалено обработчиков вебхуков: ${count}. События туда больше не отправляются.`,
  endpoint_secret_rotated: ({ url }, count) =>
    count === 1
      ? `🔐 Секрет для <code>${text(url)}</code> сменён. Прежний подписывает события ещё 24 часа.`
      : `🔐 Секреты вебхуков сменены, раз: ${count}. Прежние подписывают события ещё 24 часа.`,
  member_joined: ({ name, role }, count) =>
    count === 1
      ? `👤 ${text(name)} теперь в команде, роль: ${roles[role as MemberRole] ?? text(role)}.`
      : `👤 Новых участников: ${count}.`,
  member_removed: ({ name }, count) =>
    count === 1 ? `👤 ${text(name)} больше не в команде.` : `👤 Покинули команду: ${count}.`,
  member_role_changed: ({ name, role }, count) =>
    count === 1
      ? `👤 ${text(name)} — новая роль: ${roles[role as MemberRole] ?? text(role)}.`
      : `👤 Изменений ролей в команде: ${count}.`,
  live_approved: () => '🎉 Боевой режим одобрен. Владелец может создать боевой ключ.',
  live_refused: (_details, _count, support) =>
    `Боевой режим не одобрен. Тестовый режим продолжает работать. ${toSupport(support, 'Если его одобрят позже, мы сообщим здесь.', 'Узнать причину можно в поддержке')}`,
  maintenance_planned: ({ from, until }) =>
    `🗓 Запланированы технические работы с ${moment(from)} до ${moment(until)}. В это время новые платежи не принимаются.`,
  maintenance_cancelled: ({ from, until }) =>
    `✅ Технические работы с ${moment(from)} до ${moment(until)} отменены.`,
  maintenance_on: () => '🔧 Технические работы: новые платежи пока не принимаются. Начатые завершатся.',
  maintenance_off: () => '✅ Технические работы завершены. Платежи снова принимаются.',
  rate_stale: () => '📉 Курс устарел: платежи не принимаются, пока он не обновится.',
  rate_fresh: () => '📈 Курс обновлён. Платежи снова принимаются.',
};

const meanings: Record<ShownPayment['status'] | 'manual_review', string> = {
  processing: 'Ждём ответа банка. Не платите повторно.',
  manual_review: 'Банк ещё не подтвердил результат. Не платите повторно, мы следим за статусом.',
  succeeded: 'Оплачен. Статус окончательный.',
  failed: 'Не прошёл. USDT вернулись на баланс. Статус окончательный.',
  rejected: 'Отклонён. Списания не было.',
};

export const ru: Texts = {
  name: '🇷🇺 Русский',
  chooseLanguage: 'Выберите язык:',
  welcome:
    '<b>Kopeck</b> оплачивает QR-коды СБП в рублях и списывает USDT с вашего баланса. Всё работает через API.\n\nЗарегистрируйтесь и проведите первый тестовый платёж за две минуты. Если вас пригласили в команду, откройте ссылку-приглашение.',
  cancel: '✖️ Отмена',
  back: '⬅️ Назад',
  menu: '🏠 Меню',
  support: '💬 Поддержка',
  refresh: '🔄 Обновить',
  tooManyChanges: 'Сегодня вы внесли слишком много изменений. Попробуйте завтра (по UTC).',
  failed: 'Что-то пошло не так на нашей стороне. Попробуйте ещё раз.',
  tooFast: 'Слишком много запросов. Подождите несколько секунд.',
  forwarded: 'Пересланные сообщения не принимаются. Напишите ответ сами.',
  onlyText: 'Я понимаю только текст и изображения с QR-кодами. Напишите ответ или нажмите кнопку выше.',
  outdated: 'Кнопка уже использована или устарела.',
  notYours: 'Эта кнопка не для вас.',
  noMember: 'Вы не в команде этого партнёра.',
  notAllowed: right => `Нужна роль ${oneOf.format(rolesWith(right).map(role => `«${roles[role]}»`))}.`,
  about: (partner, html) => `<b>${e(partner)}</b>\n${html}`,
  notices,
  topics: {
    delivery: 'Недоставленные события',
    sending: 'Приостановка и возобновление вебхуков',
    review: 'Задержки платежей',
    low: 'Низкий баланс',
    credited: 'Пополнения',
    report: 'Отчёт за месяц, если он включён',
    maintenance: 'Технические работы',
    rate: 'Устаревший курс',
  },
  secret: {
    coming: '🔒 Секунду…',
    goesAway: seconds => `<i>Сообщение удалится через ${seconds} секунд.</i>`,
    hide: '🙈 Скрыть сейчас',
  },
  signUp: {
    button: '🚀 Регистрация',
    askName: 'Как называется ваша компания или магазин?',
    badName: 'Название — одна строка от 1 до 128 символов. Попробуйте ещё раз.',
    tooMany: 'Вы уже зарегистрировали максимальное число партнёров.',
    tooManyToday: 'Лимит регистраций на сегодня исчерпан. Попробуйте завтра.',
    done: name =>
      `<b>${e(name)}</b> — регистрация завершена, на тестовом балансе 10 000 USDT. Мы рассмотрим заявку на боевой режим и сообщим о решении здесь.\n\nСледующий шаг — создать тестовый ключ.`,
    firstKey: '🔑 Создать тестовый ключ',
    firstPayment: url =>
      [
        'Первый тестовый платёж. Скопируйте команду в терминал и замените <code>KEY</code> на свой ключ:',
        `<pre>curl -sw '\\n' ${e(url)}/v1/payments \\\n  -H "Authorization: Bearer KEY" \\\n  -H "Idempotency-Key: order-1" \\\n  -H "Content-Type: application/json" \\\n  -d '{"qr_url":"${sampleLink}"}'</pre>`,
        `В тестовом режиме платёж на сумму с ,01 на конце отклоняется, с ,02 — 30 секунд остаётся в обработке, с ,03 — завершается ошибкой qr_changed, остальные проходят. Документация: ${e(url)}/docs/ru/`,
      ].join('\n\n'),
  },
  partner: {
    home: ({ name, partnerId, liveApproved, suspended: isSuspended }, role, support) =>
      [
        `<b>${e(name)}</b>`,
        `<code>${partnerId}</code>`,
        `Ваша роль: ${roles[role]}`,
        `Боевой режим: ${liveApproved ? 'одобрен' : 'на рассмотрении'}`,
        ...(isSuspended ? [`⛔ ${suspended(support)}`] : []),
      ].join('\n'),
    others: '🔀 Сменить партнёра',
    choose: 'Выберите партнёра:',
    suspended,
    suspendedKeys: 'Доступ партнёра приостановлен: новые ключи не создаются.',
  },
  portal: {
    button: '🖥 Личный кабинет',
    link: url =>
      `Ваша ссылка для входа в личный кабинет: ${e(url)}\n\nОна действует 10 минут и только один раз. Никому её не пересылайте.`,
    inTelegram: '📱 Открыть здесь',
    inBrowser: '🌐 Открыть в браузере',
  },
  keys: {
    button: '🔑 Ключи',
    create: mode => `➕ ${mode === 'live' ? 'Боевой' : 'Тестовый'} ключ`,
    name: ({ keyId, mode }) => `${mode === 'live' ? '🟢' : '🧪'} ${keyId}`,
    list: keys =>
      keys.length === 0
        ? 'Действующих ключей нет.'
        : `Действующие ключи:\n${keys.map(key => `• <code>${key.keyId}</code> ${modes[key.mode]}, последний запрос: ${key.lastUsedAt ? time(key.lastUsedAt) : 'не было'}`).join('\n')}`,
    details: key =>
      [
        `Ключ <code>${key.keyId}</code> (${modes[key.mode]})`,
        `Создан: ${time(key.createdAt)}`,
        `Последний запрос: ${key.lastUsedAt ? time(key.lastUsedAt) : 'не было'}`,
        `Разрешённые IP-адреса: ${e(clip(key.allowedAddresses.join(', '), 1_000) || 'любые')}`,
        `Права: ${key.rights.scopes.map(scope => scopeNames[scope]).join(', ')}`,
        ...(key.label ? [`Название: ${e(key.label)}`] : []),
        ...(key.rights.maxKopecks === null ? [] : [`Лимит на платёж: ${rub(key.rights.maxKopecks)} ₽`]),
        ...(key.rights.dailyKopecks === null ? [] : [`Лимит в день: ${rub(key.rights.dailyKopecks)} ₽`]),
        ...(key.expiresAt ? [`Действует до: ${time(key.expiresAt)}`] : []),
        ...(key.rolledTo ? [`Заменён ключом <code>${key.rolledTo}</code>`] : []),
      ].join('\n'),
    createLimited: '➕ Ключ с ограничениями',
    askScope:
      'Что разрешить ключу?\n• <b>чтение</b>: баланс, платежи, курс и расчёты\n• <b>оплата</b>: создание платежей',
    scopeButton: (mode, scope) => `${mode === 'live' ? '🟢 Боевой' : '🧪 Тестовый'}: ${scopeNames[scope]}`,
    askExpiry:
      'Через сколько дней ключ перестанет действовать? Напишите число от 1 до 9999 или нажмите кнопку.',
    badExpiry: 'Нужно число дней от 1 до 9999, например <code>90</code>. Или нажмите кнопку.',
    noExpiry: '♾ Бессрочно',
    askLimits:
      'Сколько можно тратить с этим ключом, в рублях? Напишите лимит на платёж и лимит в день (по UTC), например <code>5000 50000</code>; 0 — без лимита. Или нажмите кнопку.',
    badLimits:
      'Нужны две суммы в рублях: лимит на платёж и лимит в день, например <code>5000 50000</code>. Или нажмите кнопку.',
    noLimits: '🚫 Без лимитов',
    askLabel: 'Для чего этот ключ? Напишите название, например <code>Касса 4</code>, или нажмите кнопку.',
    badLabel: 'Название — одна строка до 128 символов. Напишите другое или нажмите кнопку.',
    noLabel: '➖ Без названия',
    roll: '♻️ Заменить',
    askOverlap: ({ keyId, mode }) =>
      `Замена ключа <code>${keyId}</code> (${modes[mode]}): вы получите новый ключ с теми же правами. Сколько ещё будет действовать старый?`,
    overlap: hours => (hours === 1 ? '1 час' : hours === 168 ? '7 дней' : `${hours} часа`),
    askRoll: ({ keyId, mode }, hours) =>
      `Создать новый ключ вместо <code>${keyId}</code> (${modes[mode]})? Старый перестанет действовать через ${hours === 1 ? '1 час' : hours === 168 ? '7 дней' : `${hours} часа`}. Это нельзя отменить.`,
    tooMany: count => `В этом режиме уже ${count} действующих ключей, это максимум. Отзовите ненужный.`,
    tooManyRolled: count =>
      `В этом режиме ещё действуют ${count} заменённых ключей, это максимум. Сначала отзовите один из них.`,
    tooManyChanges:
      'Сегодня ключи меняли слишком часто. Попробуйте завтра (по UTC). Отозвать ключ можно и сейчас.',
    alreadyRolled: 'Этот ключ уже заменён.',
    askAddresses: mode =>
      `Новый ключ (${modes[mode]}). С каких IP-адресов разрешить запросы? Напишите адреса или диапазоны, например <code>192.0.2.7, 2001:db8::/32</code>, или нажмите кнопку.`,
    anyAddress: '🌍 С любых IP-адресов',
    badAddresses:
      'Нужен список от 1 до 20 IP-адресов, например <code>192.0.2.7, 198.51.100.0/24</code>. Или нажмите кнопку.',
    created: key =>
      `Ваш ключ. Мы показываем его только один раз:\n<code>${key}</code>\nХраните его как пароль: мы его не сохраняем и не сможем показать снова.`,
    notApproved: 'Боевой режим ещё не одобрен. Заявка на рассмотрении.',
    allow: '✏️ Изменить IP-адреса',
    askAllowed: ({ keyId, mode }) =>
      `С каких IP-адресов разрешить запросы с ключом <code>${keyId}</code> (${modes[mode]})? Напишите полный список, например <code>192.0.2.7, 2001:db8::/32</code>, или нажмите кнопку. Запросы с других адресов сразу перестанут приниматься.`,
    allowed: 'Разрешённые IP-адреса изменены.',
    revoke: '🗑 Отозвать',
    askRevoke: ({ keyId, mode }) =>
      `Отозвать ключ <code>${keyId}</code> (${modes[mode]})? Запросы с ним сразу перестанут приниматься. Это нельзя отменить.`,
    revoked: 'Ключ отозван.',
  },
  webhook: {
    button: '📬 Вебхук',
    none: 'Вебхук не задан. Укажите URL, на который отправлять события о платежах.',
    set: '✏️ Указать URL',
    askAddress: 'Напишите URL, например <code>https://example.com/webhook</code>.',
    badAddress:
      'Такой URL не подходит. Нужен https://, доступный из интернета хост, порт 443 или выше 1023, без логина, пароля и #. Напишите другой.',
    saved: 'URL сохранён. Нажмите «Проверить», чтобы протестировать обработчик.',
    state: webhook =>
      [
        `URL: <code>${e(webhook.url)}</code>`,
        ...(webhook.mode ? [`Режим: ${webhook.mode === 'live' ? 'боевой' : 'тестовый'}`] : []),
        `Статус: ${webhook.state === 'active' ? '✅ активен' : '⛔ приостановлен, нажмите «Проверить», чтобы возобновить'}`,
        `Ожидают отправки: ${webhook.waiting}`,
        `Не удалось доставить: ${webhook.givenUp}`,
      ].join('\n'),
    refunds: isOn => (isOn ? '↩️ События о возвратах: вкл.' : '↩️ События о возвратах: выкл.'),
    add: '➕ Добавить обработчик',
    added:
      'Обработчик добавлен и получает события с этого момента. У него свой секрет. Нажмите «Проверить», чтобы протестировать его.',
    tooMany: 'В этом режиме уже пять обработчиков. Сначала удалите один из них.',
    askMode: 'События каких платежей отправлять новому обработчику?',
    modes: { live: 'Боевых', test: 'Тестовых' },
    endpoints: endpoints =>
      [
        'Обработчики:',
        ...endpoints.map(
          ({ url, mode, state }, index) =>
            `${index + 1}. ${state === 'active' ? '✅' : '⛔'} <code>${e(url)}</code> (${modeNames[mode ?? 'both']})`,
        ),
      ].join('\n'),
    open: (number, { mode }) => `${number}. ${modeNames[mode ?? 'both']}`,
    kind: (kind, isOn) => `${isOn ? '☑️' : '⬜'} ${kind}`,
    lastKind: 'Обработчику нужен хотя бы один вид событий. Если он больше не нужен, удалите его.',
    remove: '🗑 Удалить',
    askRemove: ({ url, waiting }) =>
      `Удалить <code>${e(url)}</code>? Его секрет и события, которые ждут отправки (${waiting}), тоже будут удалены.`,
    removed: 'Обработчик удалён.',
    check: '🧪 Проверить',
    checking: 'Проверяем…',
    secret: '👁 Секрет',
    secrets: ([secret, old]) =>
      `Секрет для подписи вебхуков:\n<code>${secret}</code>${old ? `\nПредыдущий секрет, пока тоже действует:\n<code>${old}</code>` : ''}`,
    rotate: '♻️ Сменить секрет',
    askRotate: 'Создать новый секрет? Текущий будет действовать ещё 24 часа. Это нельзя отменить.',
    overlap: 'Предыдущий секрет ещё действует. Снова сменить секрет можно, когда истечёт его срок.',
    log: '📜 Журнал',
    attempts: attempts =>
      attempts.length === 0
        ? 'За последние 30 дней попыток доставки не было.'
        : `Последние попытки:\n${attempts.map(one => `• ${time(one.at)} <code>${formatEventId(one.eventId)}</code> №${one.attempt}: ${e(responseOf(one))}, ${one.durationMs} мс`).join('\n')}`,
    resend: event => `🔁 Отправить ${event} повторно`,
    queued: 'Событие отправляется повторно.',
    queuedSuspended: 'Событие отправится после успешной проверки.',
    noEvent: 'Такого события нет или вебхук не задан.',
    checkResult: ({ results, canReceive, passed, tls }, reEnabled) =>
      [
        '<b>Проверка вебхука</b>',
        ...results.map(one =>
          one.problem === null
            ? `✅ ${probeNames[one.name] ?? e(one.name)}: ${one.expected === 'accept' ? 'принято' : 'отклонено'}, ответ: ${e(responseOf(one))}`
            : `❌ ${probeNames[one.name] ?? e(one.name)}: нужно ${one.expected === 'accept' ? 'принять' : 'отклонить'}, ${e(problems[one.problem](one))}`,
        ),
        ...(tls ? [`TLS: ${tls.protocol}, сертификат действует до ${time(new Date(tls.validUntil))}`] : []),
        passed
          ? 'Обработчик принимает корректные события и отклоняет остальные.'
          : canReceive
            ? 'Обработчик принимает корректные события, но часть проверок не пройдена.'
            : 'Обработчик не принимает корректные события. Исправьте его и повторите проверку.',
        ...(reEnabled ? ['Отправка вебхуков возобновлена.'] : []),
      ].join('\n'),
  },
  balance: {
    button: '💰 Баланс',
    state: (balances, limits, mark) =>
      [
        `Боевой: <b>${usdt(balances.live.availableMicroUsdt)}</b> USDT, зарезервировано ${usdt(balances.live.heldMicroUsdt)}`,
        `Тестовый: <b>${usdt(balances.test.availableMicroUsdt)}</b> USDT, зарезервировано ${usdt(balances.test.heldMicroUsdt)}`,
        '',
        `Сумма платежа: от ${rub(limits.minKopecks)} до ${rub(limits.maxKopecks)} ₽`,
        `Дневной лимит: ${limits.dailyKopecks === null ? 'нет' : `${rub(limits.dailyKopecks)} ₽`}`,
        `Одновременных платежей: ${limits.concurrent}, новых платежей в секунду: ${limits.createRps}`,
        `Уведомление о низком балансе: ${mark === undefined ? 'выключено' : `ниже ${usdt(mark)} USDT`}`,
      ].join('\n'),
    topUp: '➕ Пополнить',
    howToTopUp: (partnerId, support) =>
      `Адреса для перевода USDT пока нет. ${toSupport(support, 'Загляните позже; тестовый баланс можно пополнять раз в день.', 'Напишите в поддержку, сколько USDT и в какой сети вы хотите отправить')}\n\nID партнёра: <code>${partnerId}</code>\nО зачислении мы сообщим здесь.`,
    topUpAfterApproval:
      'Адреса для пополнения появятся здесь после одобрения боевого режима: пополнения — это реальные деньги. До этого платите с тестового баланса.',
    explorer: '🔎 Адрес в обозревателе',
    chooseNetwork: 'В какой сети вы отправите USDT?',
    sendTo: ({ chain, address }) =>
      [
        `Отправляйте USDT в сети <b>${e(chain.network)}</b> на этот адрес. Он закреплён за вами и не меняется:`,
        `<code>${e(address)}</code>`,
        '',
        'Это реальные деньги: они пополняют боевой баланс.',
        `Минимальная сумма: ${usdt(chain.minMicroUsdt)} USDT. Меньшие переводы накапливаются и зачисляются вместе, когда наберётся минимум.`,
        `Обычно пополнение занимает около ${chain.usualMinutes} мин. О нём мы сообщим здесь.`,
        '',
        '⚠️ Другие токены и USDT в других сетях не зачисляются и могут быть потеряны.',
      ].join('\n'),
    history: '📜 История пополнений',
    credits: credits =>
      credits.length === 0
        ? 'Пополнений пока не было.'
        : `Последние пополнения:\n${credits.map(one => `• ${time(one.at)} ${modes[one.mode]}: ${usdt(one.microUsdt)} USDT, ${e(one.reference)}`).join('\n')}`,
    refill: '🧪 Пополнить тестовый баланс',
    refilled: 'Добавлено 10 000 тестовых USDT.',
    notAgainToday: 'Тестовый баланс можно пополнять раз в день.',
    setMark: '🪫 Низкий баланс',
    askMark: 'При каком остатке на боевом балансе (USDT) предупреждать? Напишите число, например 250.',
    badMark: 'Напишите положительное число, не больше 6 знаков после запятой, например 250 или 99,5.',
    noMark: '🔕 Не уведомлять',
  },
  payments: {
    button: '🧾 Платежи',
    line: payment =>
      clip(
        `${signs[payment.status]} ${rub(payment.amountKopecks)} ₽ ${payment.externalId ?? payment.recipient}`,
        60,
      ),
    recent: (filter, count) =>
      count === 0 ? `Платежей пока нет (${nameOf(filter)}).` : `Последние платежи (${nameOf(filter)}):`,
    before: (filter, last) => `Платежи (${nameOf(filter)}), ${time(last)} и раньше:`,
    only: (status, chosen) => marked(status ? signs[status] : 'Все', chosen),
    newer: '◀️ Новее',
    older: 'Старее ▶️',
    otherMode: mode => (mode === 'live' ? '🟢 Боевые' : '🧪 Тестовые'),
    find: '🔎 Найти',
    askName: 'Напишите ID платежа (<code>pay_…</code>) или свой <code>external_id</code>.',
    notFound: 'Платёж с таким ID или external_id не найден. Напишите другой.',
    several: 'Нашлось несколько платежей с таким external_id:',
    gone: 'Платёж не найден.',
    details: (payment, refunded) =>
      [
        `<code>${payment.paymentId}</code> (${modes[payment.mode]})`,
        `Статус: <b>${statuses[payment.status]}</b> (${stateOf(payment)})`,
        meanings[payment.statusDetail === 'manual_review' ? 'manual_review' : payment.status],
        `Сумма: ${rub(payment.amountKopecks)} ₽ = ${usdt(payment.microUsdt)} USDT по курсу ${rate(payment.rateE4)}`,
        ...(refunded ? [`Возвращено: ${rub(refunded.kopecks)} ₽ = ${usdt(refunded.microUsdt)} USDT`] : []),
        `Получатель: ${e(payment.recipient)}`,
        ...(payment.externalId ? [`external_id: <code>${e(payment.externalId)}</code>`] : []),
        `Создан: ${time(payment.createdAt)}`,
        ...(payment.settledAt ? [`Завершён: ${time(payment.settledAt)}`] : []),
      ].join('\n'),
  },
  rate: {
    button: '📈 Курс',
    chart: { title: 'USDT/RUB, 24 ч', formatRate: rate },
    none: 'Курса пока нет.',
    now: (rate, asOf, stale) =>
      `<b>${amount(rate)}</b> ₽ за 1 USDT\nНа ${time(asOf)}${stale ? '\n⚠️ Курс устарел: платежи не принимаются, пока он не обновится.' : ''}`,
  },
  qr: {
    resolved: ({ mode, recipient, purpose, rub, usdt, blocked }) =>
      [
        `Получатель: <b>${e(recipient)}</b>`,
        ...(purpose ? [`Назначение: ${e(purpose)}`] : []),
        `Сумма: <b>${amount(rub)}</b> ₽`,
        usdt ? `По текущему курсу: <b>${amount(usdt)}</b> USDT` : 'Курс устарел, сумма в USDT недоступна.',
        ...(blocked ? ['⛔ Платежи этому получателю заблокированы.'] : []),
        ...(mode === 'test' ? ['Тестовый режим, получатель вымышленный.'] : []),
        'Ничего не оплачено.',
      ].join('\n'),
    refused: {
      invalid_qr: 'Это не ссылка из QR-кода СБП, или срок действия кода истёк.',
      unsupported_qr: 'Это код для подписки или привязки счёта, оплатить его нельзя.',
      unsupported_variable_amount: 'В этом коде нет суммы.',
      qr_unresolvable: 'Не удалось получить данные этого кода. Попробуйте позже.',
      gateway_busy: 'Слишком много QR-кодов проверяется одновременно. Попробуйте позже.',
      gateway_unavailable: 'Платёжный шлюз не отвечает. Попробуйте позже.',
    },
    tooLarge:
      'Изображение слишком большое. Отправьте до 12 мегапикселей (PNG — 8 бит на канал) или саму ссылку.',
    noCode: 'Не удалось найти QR-код на изображении. Пришлите более чёткое или отправьте ссылку.',
    busy: 'Слишком много изображений сразу. Попробуйте через минуту.',
  },
  team: {
    button: '👥 Команда',
    list: (members, more) =>
      `Участники:\n${members.map(({ name, role }) => `• ${e(clip(name, 32))}, ${roles[role]}`).join('\n')}${more > 0 ? `\n… и ещё ${more}` : ''}\n\nНаблюдателям доступен только просмотр. Бухгалтеры видят только деньги, без вебхуков. Плательщики ещё и платят вручную в личном кабинете. Разработчики, кроме просмотра, управляют тестовыми ключами и вебхуками. Владельцы управляют всем.`,
    invite: role => `➕ Пригласить: ${roles[role]}`,
    invitation: (partner, role, link) =>
      `Приглашение в <b>${e(partner)}</b>, роль: ${roles[role]}. Для одного человека, действует 24 часа:\n${e(link)}`,
    noInvitation: 'Приглашение уже использовано, истекло или не существует. Попросите новое.',
    joined: partner => `Добро пожаловать в <b>${e(partner)}</b>.`,
    alreadyMember: partner => `Вы уже в команде <b>${e(partner)}</b>.`,
    remove: name => clip(`🗑 Удалить: ${name}`, 60),
    leave: '🚪 Выйти',
    askRemove: (name, partner) =>
      `Удалить участника ${e(name)} из <b>${e(partner)}</b>? Доступ пропадёт сразу. Известные ему ключи продолжат действовать — отзовите их.`,
    askLeave: partner => `Выйти из <b>${e(partner)}</b>? Вернуться можно только по новому приглашению.`,
    removed: 'Готово.',
    left: partner => `Вы вышли из <b>${e(partner)}</b>.`,
    lastOwner: 'В команде должен быть владелец. Сначала назначьте владельцем другого участника.',
    role: (name, role) => clip(`🎭 ${name}: ${roles[role]}`, 60),
    chooseRole: (name, role) => `${e(name)}, текущая роль: ${roles[role]}. Выберите новую:`,
    newRole: role => `➡️ ${roles[role]}`,
    askRole: (name, role, partner) =>
      `${e(name)} в <b>${e(partner)}</b>: сменить роль на «${roles[role]}»? Изменение вступит в силу сразу.`,
    roleChanged: 'Роль изменена.',
    full: (partner, max) =>
      `В команде <b>${e(partner)}</b> нет свободных мест: уже ${max} участников. Попросите владельца кого-нибудь удалить и откройте приглашение снова.`,
  },
  settings: {
    button: '⚙️ Настройки',
    text: 'О чём вам сообщать? Уведомления о безопасности отключить нельзя.',
    language: '🌐 Язык / Language',
  },
  staff: {
    open: 'Открыть в консоли',
    signedUp: (partner, partnerId) =>
      `Новый партнёр <b>${e(partner)}</b> (<code>${partnerId}</code>) запрашивает боевой режим.`,
    approve: 'Одобрить',
    refuse: 'Отклонить',
    approved: partner => `${partner}: боевой режим одобрен, можно создавать боевые ключи.`,
    refused: partner => `${partner}: заявка отклонена, доступен только тестовый режим.`,
    wasApproved: 'Боевой режим уже одобрен.',
    noPartner: 'Такого партнёра нет.',
    clear: 'Закрыть',
    cleared: 'Оповещение закрыто.',
    wasCleared: 'Оповещение уже закрыто.',
    noAction: 'Эта кнопка здесь не работает.',
  },
};
