import { formatKopecks, formatMicroUsdt, formatRate } from '../../base/money.ts';
import type { MemberRole } from '../../partners/index.ts';
import type { Payment } from '../../payments/index.ts';
import { formatEventId } from '../../webhooks/index.ts';
import { clip, escapeHtml as e, formatTime } from '../conversation/screen.ts';
import type { NoticeDetails } from '../notices/outbox.ts';
import { marked, type Notices, type PaymentFilter, sampleLink, signs, stateOf, type Texts } from './en.ts';

const text = (value: NoticeDetails[string] | undefined) => e(`${value ?? ''}`);
const roles = { viewer: 'наблюдатель', developer: 'разработчик', owner: 'владелец' };
const modes: Record<string, string> = { live: 'боевой', test: 'тестовый' };
const named = (details: NoticeDetails) => (details.external_id ? ` (${text(details.external_id)})` : '');
const statuses: Record<Payment['status'], string> = {
  processing: 'в обработке',
  succeeded: 'оплачен',
  failed: 'не прошёл',
  rejected: 'отклонён',
};

const nameOf = ({ mode, status }: PaymentFilter) =>
  `режим: ${modes[mode]}${status ? `, статус: ${statuses[status]}` : ''}`;

const questions: Record<string, string> = {
  'a valid event': 'верное событие',
  'the same event again': 'то же событие ещё раз',
  'a wrong signature': 'неверная подпись',
  'a timestamp ten minutes old': 'время десять минут назад',
  'a changed body': 'изменённое тело',
};

const notices: Notices = {
  delivery_failed: ({ event_id }, count) =>
    count === 1
      ? `📭 Событие <code>evt_${text(event_id)}</code> не доставлено: девять попыток не удались. Подробности: Вебхук → Журнал.`
      : `📭 Не доставлено событий: ${count}, по девять попыток каждое. Подробности: Вебхук → Журнал.`,
  sending_suspended: () =>
    '⛔ Отправка вебхуков приостановлена: три события подряд не доставлены. Исправьте приёмник и нажмите Вебхук → Проверить. Ничего не потеряно: события хранятся.',
  sending_re_enabled: () => '✅ Отправка вебхуков продолжена, накопленное отправляется.',
  payment_in_review: (details, count) =>
    count === 1
      ? `⏳ Платёж <code>${text(details.payment_id)}</code>${named(details)} на ${text(details.amount_rub)} ₽ идёт долго: банк ещё не дал окончательного ответа. Не повторяйте его; мы продолжаем спрашивать.`
      : `⏳ Долго идут платежи: ${count}. Банк ещё не дал окончательного ответа. Не повторяйте их; мы продолжаем спрашивать.`,
  payment_review_ended: (details, count) =>
    count === 1
      ? `🏁 Платёж <code>${text(details.payment_id)}</code>${named(details)} завершён: ${statuses[details.status as Payment['status']] ?? text(details.status)}.`
      : `🏁 Завершены долгие платежи: ${count}.`,
  balance_low: ({ balance_usdt, mark_usdt }) =>
    `🪫 Боевой баланс мал: ${text(balance_usdt)} USDT, ниже ${text(mark_usdt)}.`,
  balance_credited: ({ mode, usdt, balance_usdt }, count) =>
    count === 1
      ? `💰 Зачислено: ${text(usdt)} USDT. Баланс (${modes[`${mode}`] ?? ''}): ${text(balance_usdt)} USDT.`
      : `💰 Зачислений: ${count}. Баланс (${modes[`${mode}`] ?? ''}): ${text(balance_usdt)} USDT.`,
  key_created: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 Кто-то другой создал ключ (${modes[`${mode}`] ?? ''}): <code>${text(key_id)}</code>. Если это ошибка, отзовите его в разделе «Ключи».`
      : `🔐 Создано ключей: ${count}. Если это ошибка, отзовите их в разделе «Ключи».`,
  key_revoked: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 Кто-то другой отозвал ключ (${modes[`${mode}`] ?? ''}): <code>${text(key_id)}</code>.`
      : `🔐 Отозвано ключей: ${count}.`,
  key_addresses_changed: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 Кто-то другой изменил адреса, с которых действует ключ (${modes[`${mode}`] ?? ''}): <code>${text(key_id)}</code>. Если это ошибка, проверьте раздел «Ключи».`
      : `🔐 Разрешённые адреса ключей менялись, раз: ${count}. Если это ошибка, проверьте раздел «Ключи».`,
  member_joined: ({ name, role }, count) =>
    count === 1
      ? `👤 ${text(name)} теперь в команде: ${roles[role as MemberRole] ?? text(role)}.`
      : `👤 Новых участников: ${count}.`,
  member_removed: ({ name }, count) =>
    count === 1 ? `👤 ${text(name)} больше не в команде.` : `👤 Вышли из команды: ${count}.`,
  member_role_changed: ({ name, role }, count) =>
    count === 1
      ? `👤 ${text(name)}: теперь ${roles[role as MemberRole] ?? text(role)}.`
      : `👤 Роли в команде менялись, раз: ${count}.`,
  live_approved: () => '🎉 Боевой режим одобрен: владелец может создать боевой ключ.',
  live_refused: () => 'Боевой режим не одобрен. Тестовый остаётся; о причине спросите поддержку.',
  maintenance_planned: ({ from, until }) =>
    `🗓 Запланированы технические работы с ${formatTime(new Date(`${from}`))} до ${formatTime(new Date(`${until}`))}: новые платежи в это время не принимаются.`,
  maintenance_cancelled: ({ from, until }) =>
    `✅ Технические работы с ${formatTime(new Date(`${from}`))} до ${formatTime(new Date(`${until}`))} отменены.`,
  maintenance_on: () => '🔧 Технические работы: новые платежи пока не принимаются. Начатые продолжаются.',
  maintenance_off: () => '✅ Технические работы окончены: платежи снова принимаются.',
  rate_stale: () => '📉 Курс устарел: платежи не принимаются, пока он не обновится.',
  rate_fresh: () => '📈 Курс снова свежий: платежи принимаются.',
};

const meanings: Record<Payment['status'] | 'manual_review', string> = {
  processing: 'Банк ещё отвечает. Подождите, не платите повторно.',
  manual_review: 'Исход пока неизвестен. Мы продолжаем спрашивать банк; не платите повторно.',
  succeeded: 'Оплачено, это окончательно.',
  failed: 'Не оплачено, USDT возвращены на баланс. Это окончательно.',
  rejected: 'Отклонён до начала.',
};

export const ru: Texts = {
  name: '🇷🇺 Русский',
  chooseLanguage: 'Выберите язык:',
  welcome:
    '<b>Kopeck</b> платит по QR-кодам СБП в рублях с баланса в USDT, через API.\n\nЗарегистрируйтесь и проведите первый тестовый платёж за две минуты. Если вас пригласили в команду, откройте ссылку-приглашение.',
  cancel: '✖️ Отмена',
  back: '⬅️ Назад',
  menu: '🏠 Меню',
  refresh: '🔄 Обновить',
  failed: 'На нашей стороне что-то не получилось. Попробуйте ещё раз.',
  tooFast: 'Слишком часто: подождите несколько секунд.',
  forwarded: 'Пересланное сообщение не ответ: напишите сами.',
  onlyText: 'Я читаю только текст и картинки с QR-кодами: напишите ответ или нажмите кнопку выше.',
  outdated: 'Эта кнопка уже использована или устарела.',
  notYours: 'Эта кнопка не для вас.',
  noMember: 'Вы не состоите у этого партнёра.',
  notAllowed: role => `Нужна роль «${roles[role]}» или выше.`,
  about: (partner, html) => `<b>${e(partner)}</b>\n${html}`,
  notices,
  topics: {
    delivery: 'Событие не доставлено',
    sending: 'Остановка и запуск вебхуков',
    review: 'Долгие платежи',
    low: 'Малый баланс',
    credited: 'Зачисления',
    maintenance: 'Технические работы',
    rate: 'Курс устарел',
  },
  secret: {
    coming: '🔒 Минуту …',
    goesAway: seconds => `<i>Сообщение исчезнет через ${seconds} секунд.</i>`,
    hide: '🙈 Скрыть сейчас',
  },
  signUp: {
    button: '🚀 Регистрация',
    askName: 'Как называется ваша компания или магазин? Напишите название.',
    badName: 'Название: одна строка от 1 до 128 знаков. Напишите ещё раз.',
    tooMany: 'У вас уже столько партнёров, сколько можно одному человеку.',
    tooManyToday: 'На сегодня достаточно: следующего зарегистрируйте завтра.',
    done: name =>
      `<b>${e(name)}</b> зарегистрирован, на тестовом балансе 10 000 USDT. Боевой режим одобряет наш сотрудник; мы сообщим здесь.\n\nДальше: тестовый ключ.`,
    firstKey: '🔑 Создать тестовый ключ',
    firstPayment: url =>
      [
        'Первый тестовый платёж, скопируйте в терминал (вместо <code>KEY</code> вставьте ключ):',
        `<pre>curl -s ${e(url)}/v1/payments \\\n  -H "Authorization: Bearer KEY" \\\n  -H "Idempotency-Key: order-1" \\\n  -H "Content-Type: application/json" \\\n  -d '{"qr_url":"${sampleLink}"}'</pre>`,
        `Сумма с ,01 на конце отклоняется, с ,02 исход неизвестен 30 секунд, всё остальное проходит. Справочник: ${e(url)}/docs`,
      ].join('\n\n'),
  },
  partner: {
    home: ({ name, partnerId, liveApproved, suspended }, role) =>
      [
        `<b>${e(name)}</b>`,
        `<code>${partnerId}</code>`,
        `Ваша роль: ${roles[role]}`,
        `Боевой режим: ${liveApproved ? 'одобрен' : 'ждёт одобрения'}`,
        ...(suspended ? ['⛔ Приостановлен: напишите в поддержку.'] : []),
      ].join('\n'),
    others: '🔀 Другой партнёр',
    choose: 'Какой партнёр?',
    suspended: 'Партнёр приостановлен: напишите в поддержку.',
  },
  keys: {
    button: '🔑 Ключи',
    create: mode => `➕ ${mode === 'live' ? 'Боевой' : 'Тестовый'} ключ`,
    name: ({ keyId, mode }) => `${mode === 'live' ? '🟢' : '🧪'} ${keyId}`,
    list: keys =>
      keys.length === 0
        ? 'Действующих ключей нет.'
        : `Действующие ключи:\n${keys.map(key => `• <code>${key.keyId}</code> ${modes[key.mode]}, использован: ${key.lastUsedAt ? formatTime(key.lastUsedAt) : 'ни разу'}`).join('\n')}`,
    details: key =>
      [
        `Ключ <code>${key.keyId}</code> (${modes[key.mode]})`,
        `Создан: ${formatTime(key.createdAt)}`,
        `Использован: ${key.lastUsedAt ? formatTime(key.lastUsedAt) : 'ни разу'}`,
        `Разрешённые адреса: ${e(clip(key.allowedAddresses.join(', '), 1_000) || 'любые')}`,
      ].join('\n'),
    askAddresses: mode =>
      `Новый ключ (${modes[mode]}). С каких адресов им можно пользоваться? Напишите IP-адреса или диапазоны, например <code>192.0.2.7, 2001:db8::/32</code>, или нажмите кнопку.`,
    anyAddress: '🌍 С любых',
    badAddresses:
      'Это не список от 1 до 20 адресов. Напишите, например, <code>192.0.2.7, 198.51.100.0/24</code>, или нажмите кнопку.',
    created: key =>
      `Ваш ключ, показан один раз:\n<code>${key}</code>\nХраните как пароль: он нигде не записан, и показать его снова нельзя.`,
    notApproved: 'Боевой режим ещё не одобрен: запрос у наших сотрудников.',
    allow: '✏️ Изменить адреса',
    askAllowed: ({ keyId, mode }) =>
      `С каких адресов может действовать ключ <code>${keyId}</code> (${modes[mode]})? Напишите все, например <code>192.0.2.7, 2001:db8::/32</code>, или нажмите кнопку. С других запросы сразу перестанут приниматься.`,
    allowed: 'Разрешённые адреса изменены.',
    revoke: '🗑 Отозвать',
    askRevoke: ({ keyId, mode }) =>
      `Отозвать ключ <code>${keyId}</code> (${modes[mode]})? Запросы с ним сразу перестанут приниматься. Отменить это нельзя.`,
    revoked: 'Ключ отозван.',
  },
  webhook: {
    button: '📬 Вебхук',
    none: 'Вебхук не задан. Укажите адрес, на который сообщать о завершённых платежах.',
    set: '✏️ Задать адрес',
    askAddress: 'Напишите адрес, например <code>https://example.com/webhook</code>.',
    badAddress:
      'Такой адрес не подходит. Нужен https://, открытый в интернете хост, порт 443 или выше 1023, без имени, пароля и #. Напишите другой.',
    saved: 'Адрес сохранён. Нажмите «Проверить», чтобы узнать, всё ли умеет приёмник.',
    state: webhook =>
      [
        `Адрес: <code>${e(webhook.url)}</code>`,
        `Состояние: ${webhook.state === 'active' ? '✅ работает' : '⛔ приостановлен; «Проверить» включит снова'}`,
        `Ждут отправки: ${webhook.waiting}`,
        `Не доставлено: ${webhook.givenUp}`,
      ].join('\n'),
    check: '🧪 Проверить',
    checking: 'Проверяем …',
    secret: '👁 Секрет',
    secrets: ([secret, old]) =>
      `Секрет, которым подписаны события:\n<code>${secret}</code>${old ? `\nПрежний, пока подписывает тоже:\n<code>${old}</code>` : ''}`,
    rotate: '♻️ Сменить секрет',
    askRotate:
      'Создать новый секрет? Нынешний подписывает рядом с ним ещё 24 часа и перестаёт действовать. Отменить это нельзя.',
    overlap: 'Прежний секрет ещё подписывает: подождите, пока пройдут его 24 часа.',
    log: '📜 Журнал',
    attempts: attempts =>
      attempts.length === 0
        ? 'За последние 30 дней ничего не отправлялось.'
        : `Последние попытки:\n${attempts.map(one => `• ${formatTime(one.at)} <code>${formatEventId(one.eventId)}</code> №${one.attempt}: ${one.status ?? one.error}, ${one.durationMs} мс`).join('\n')}`,
    resend: event => `🔁 Отправить ${event} снова`,
    queued: 'Отправляется снова.',
    queuedSuspended: 'Будет отправлено, когда «Проверить» включит отправку.',
    noEvent: 'Такого события нет, или не задан вебхук.',
    certificate: ({ results, canReceive, passed, tls }, reEnabled) =>
      [
        '<b>Проверка вебхука</b>',
        ...results.map(
          one =>
            `${one.passed ? '✅' : '❌'} ${questions[one.question] ?? e(one.question)}: должен ${one.expected === 'accept' ? 'принять' : 'отклонить'}, ответил ${one.status ?? one.error}`,
        ),
        ...(tls ? [`TLS: ${tls.protocol}, сертификат действует до ${e(tls.validUntil)}`] : []),
        passed
          ? 'Приёмник принимает верные события и отклоняет остальные.'
          : canReceive
            ? 'Приёмник принимает верные события, но не всё так, как должно быть.'
            : 'Приёмник не принимает верное событие: исправьте и проверьте снова.',
        ...(reEnabled ? ['Отправка была приостановлена и теперь продолжена.'] : []),
      ].join('\n'),
  },
  balance: {
    button: '💰 Баланс',
    state: (balances, limits, mark) =>
      [
        `Боевой: <b>${formatMicroUsdt(balances.live.availableMicroUsdt)}</b> USDT, удержано ${formatMicroUsdt(balances.live.heldMicroUsdt)}`,
        `Тестовый: <b>${formatMicroUsdt(balances.test.availableMicroUsdt)}</b> USDT, удержано ${formatMicroUsdt(balances.test.heldMicroUsdt)}`,
        '',
        `Один платёж: от ${formatKopecks(limits.minKopecks)} до ${formatKopecks(limits.maxKopecks)} ₽`,
        `В день: ${limits.dailyKopecks === null ? 'без ограничения' : `${formatKopecks(limits.dailyKopecks)} ₽`}`,
        `Одновременно: ${limits.concurrent}; новых в секунду: ${limits.createRps}`,
        `Предупреждение: ${mark === undefined ? 'нет' : `ниже ${formatMicroUsdt(mark)} USDT`}`,
      ].join('\n'),
    topUp: '➕ Пополнить',
    howToTopUp: partnerId =>
      `Напишите в поддержку, сколько USDT и в какой сети отправите, и вам дадут адрес. Назовите номер партнёра, чтобы зачислить именно вам:\n<code>${partnerId}</code>\n\nО зачислении мы сообщим здесь.`,
    history: '📜 История',
    credits: credits =>
      credits.length === 0
        ? 'Зачислений пока не было.'
        : `Последние зачисления:\n${credits.map(one => `• ${formatTime(one.at)} ${modes[one.mode]}: ${formatMicroUsdt(one.microUsdt)} USDT, ${e(one.reference)}`).join('\n')}`,
    refill: '🧪 Пополнить тест',
    refilled: 'Добавлено 10 000 тестовых USDT.',
    notAgainToday: 'Тестовый баланс пополняется раз в день.',
    setMark: '🪫 Предупреждать',
    askMark: 'Ниже скольких USDT на боевом балансе предупреждать команду? Напишите число, например 250.',
    badMark: 'Напишите положительное число, не больше 6 знаков после точки, например 250 или 99.5.',
    noMark: '🔕 Не предупреждать',
  },
  payments: {
    button: '🧾 Платежи',
    line: payment =>
      clip(
        `${signs[payment.status]} ${formatKopecks(payment.amountKopecks)} ₽ ${payment.externalId ?? payment.recipient}`,
        60,
      ),
    recent: (filter, count) =>
      count === 0 ? `Платежей пока нет (${nameOf(filter)}).` : `Последние платежи (${nameOf(filter)}):`,
    before: (filter, last) => `Платежи (${nameOf(filter)}), ${formatTime(last)} и раньше:`,
    only: (status, chosen) => marked(status ? signs[status] : 'Все', chosen),
    newer: '◀️ Новее',
    older: 'Раньше ▶️',
    otherMode: mode => (mode === 'live' ? '🟢 Боевые' : '🧪 Тестовые'),
    find: '🔎 Найти',
    askName: 'Напишите номер платежа (<code>pay_…</code>) или ваш <code>external_id</code>.',
    notFound: 'У вас нет платежа с таким номером или external_id. Напишите другой.',
    several: 'С таким external_id несколько платежей:',
    gone: 'Такого платежа нет.',
    details: payment =>
      [
        `<code>${payment.paymentId}</code> (${modes[payment.mode]})`,
        `Статус: <b>${statuses[payment.status]}</b> (${stateOf(payment)})`,
        meanings[payment.statusDetail === 'manual_review' ? 'manual_review' : payment.status],
        `Сумма: ${formatKopecks(payment.amountKopecks)} ₽ = ${formatMicroUsdt(payment.microUsdt)} USDT по ${formatRate(payment.rateE4)}`,
        `Получатель: ${e(payment.recipient)}`,
        ...(payment.externalId ? [`external_id: <code>${e(payment.externalId)}</code>`] : []),
        `Создан: ${formatTime(payment.createdAt)}`,
        ...(payment.settledAt ? [`Завершён: ${formatTime(payment.settledAt)}`] : []),
      ].join('\n'),
  },
  rate: {
    button: '📈 Курс',
    none: 'Курса ещё нет.',
    now: (rate, asOf, stale) =>
      `<b>${rate}</b> ₽ за 1 USDT\nНа ${formatTime(asOf)}${stale ? '\n⚠️ Курс устарел: платежи не принимаются, пока он не обновится.' : ''}`,
  },
  qr: {
    resolved: ({ mode, recipient, purpose, rub, usdt, blocked }) =>
      [
        `Получатель: <b>${e(recipient)}</b>`,
        ...(purpose ? [`Назначение: ${e(purpose)}`] : []),
        `Сумма: <b>${rub}</b> ₽`,
        usdt ? `Сейчас стоит: <b>${usdt}</b> USDT` : 'Курс устарел, поэтому стоимость неизвестна.',
        ...(blocked ? ['⛔ Платежи этому получателю запрещены.'] : []),
        ...(mode === 'test' ? ['Это тестовый режим: получатель вымышлен.'] : []),
        'Ничего не оплачено.',
      ].join('\n'),
    refused: {
      invalid_qr: 'Это не ссылка QR-кода СБП, или срок кода истёк.',
      unsupported_qr: 'Это код подписки или привязки: оплатить его нельзя.',
      unsupported_variable_amount: 'В этом коде нет суммы.',
      qr_unresolvable: 'Банк не смог сказать, для чего этот код. Попробуйте позже.',
      gateway_unavailable: 'Банк сейчас не отвечает. Попробуйте позже.',
    },
    noCode: 'На картинке не видно QR-кода. Пришлите чётче или пришлите ссылку.',
    busy: 'Слишком много картинок сразу: попробуйте через минуту.',
  },
  team: {
    button: '👥 Команда',
    list: (members, more) =>
      `Участники:\n${members.map(({ name, role }) => `• ${e(clip(name, 32))}, ${roles[role]}`).join('\n')}${more > 0 ? `\n… и ещё ${more}` : ''}\n\nНаблюдатели смотрят, разработчики ещё управляют тестовыми ключами и вебхуками, владельцы всем.`,
    invite: role => `➕ Пригласить: ${roles[role]}`,
    invitation: (partner, role, link) =>
      `Приглашение в <b>${e(partner)}</b>, роль: ${roles[role]}. Для одного человека, действует 24 часа:\n${e(link)}`,
    noInvitation: 'Приглашение использовано, истекло или не существовало. Попросите новое.',
    joined: partner => `Добро пожаловать в <b>${e(partner)}</b>.`,
    alreadyMember: partner => `Вы уже состоите в <b>${e(partner)}</b>.`,
    remove: name => clip(`🗑 Удалить: ${name}`, 60),
    leave: '🚪 Выйти',
    askRemove: (name, partner) =>
      `Удалить ${e(name)} из <b>${e(partner)}</b>? Доступ прекратится сразу. Известные ему ключи продолжат действовать: отзовите их.`,
    askLeave: partner => `Выйти из <b>${e(partner)}</b>? Вернуться можно только по приглашению.`,
    removed: 'Готово.',
    left: partner => `Вы вышли из <b>${e(partner)}</b>.`,
    lastOwner: 'Последний владелец должен остаться: сначала сделайте владельцем другого.',
    role: (name, role) => clip(`🎭 ${name}: ${roles[role]}`, 60),
    chooseRole: (name, role) => `${e(name)}, сейчас ${roles[role]}. Какая роль нужна?`,
    newRole: role => `➡️ ${roles[role]}`,
    askRole: (name, role, partner) =>
      `${e(name)} в <b>${e(partner)}</b>: сменить роль на «${roles[role]}»? Действует сразу.`,
    roleChanged: 'Роль изменена.',
    full: (partner, most) =>
      `В команде <b>${e(partner)}</b> нет мест: уже ${most} участников. Попросите владельца кого-нибудь удалить и откройте приглашение снова.`,
  },
  settings: {
    button: '⚙️ Настройки',
    text: 'О чём боту сообщать самому? Безопасность отключить нельзя.',
    language: '🌐 Язык / Language',
  },
};
