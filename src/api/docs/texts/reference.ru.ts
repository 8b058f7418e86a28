import { webhookSecret } from '../examples.ts';

/** `description` of `openapi.ts`. */
const introduction = `
Pay QR codes of the Russian Faster Payment System (SBP) in rubles from a USDT balance.

The [guides](/docs/guides/) cover everything from the first payment to going live.

Send your key as \`Authorization: Bearer svc_test_…\`. A test key uses the same endpoints, but nothing goes to a bank: the
kopecks of the amount choose the outcome (.01 is declined, .02 is unknown and succeeds after 30 seconds, .03 returns
\`qr_changed\`, anything else succeeds).

If you do not know the outcome of a request, repeat it with the same \`Idempotency-Key\`: it is never paid twice. A rejected
request does not use up the key. 429 and 503 are temporary: retry after \`Retry-After\`, or after 2 seconds, then twice as
long each time. Changes within \`/v1\` only add; ignore fields that you do not know.
`;

/** `additions` of `openapi.ts`, with the scenarios of `src/payments/create/scenarios.ts`. */
const additions = `
Optional: integrations work without them. Besides the endpoints below:

- Every error has advice for programs. \`retryable\`: wait, then send the same request again. \`same_key\`:
  whenever you send this payment again, even after fixing it, keep its \`Idempotency-Key\`.
- \`GET /v1/payments\` filters by \`external_id\`, \`created_after\` (inclusive) and \`created_before\` (exclusive). Write the
  plus sign of an offset as \`%2B\`, or use \`Z\`.
- A test payment can request a failure scenario with \`"metadata": {"kopeck_scenario": "…"}\`. Other values, and all values
  in a live payment, are ignored.

| scenario | what happens |
|---|---|
| \`answer_lost\` | The payment is accepted, but the connection breaks before the response; a retry gets the payment. |
| \`unavailable_twice\` | \`gateway_unavailable\` with \`Retry-After\` twice per key; the third request is accepted. |
| \`webhook_twice\` | The event is delivered a second time, with the same id. |
| \`webhooks_out_of_order\` | The event is held back until your next event is sent, for at most 30 seconds. |
| \`rate_stale\` | Every request gets \`rate_unavailable\`. |
| \`review_succeeds\` | \`processing\` with \`manual_review\` at first; \`succeeded\` after 2 minutes. |
| \`review_fails\` | \`processing\` with \`manual_review\` at first; \`failed\` after 2 minutes. |
`;

/** The texts of the OpenAPI document in Russian, by the English ones. A test fails when one is missing. */
export const referenceInRussian: Record<string, string> = {
  // The document itself and its tags: openapi.ts
  [introduction]: `
Оплачивайте QR-коды Системы быстрых платежей (СБП) в рублях с баланса в USDT.

В [руководствах](/docs/guides/) описано всё: от первого платежа до запуска в боевом режиме.

Передавайте ключ в заголовке \`Authorization: Bearer svc_test_…\`. С тестовым ключом вы вызываете те же методы, но в банк
ничего не уходит, а результат выбирают копейки суммы (.01 — платёж отклонён, .02 — результат неизвестен, через 30 секунд
платёж оплачен, .03 — ошибка \`qr_changed\`, любые другие — платёж оплачен).

Если результат запроса неизвестен, повторите его с тем же \`Idempotency-Key\`: двойной оплаты не будет. Отклонённый запрос
не расходует ключ. 429 и 503 — временные ошибки: повторите запрос через время из \`Retry-After\`, а если его нет — через
2 секунды, затем каждый раз удваивайте паузу. В пределах \`/v1\` API только дополняется: игнорируйте незнакомые поля.
`,
  Account: 'Аккаунт',
  'Key and balance': 'Ключ и баланс',
  Rates: 'Курс',
  'Rate and quotes': 'Курс и расчёт суммы',
  Payments: 'Платежи',
  'Pay, read, list': 'Оплата, статус, история',
  Webhooks: 'Вебхуки',
  'What the service sends to you': 'Что сервис отправляет вам',
  Optional: 'Дополнительно',
  [additions]: `
Необязательные возможности: интеграция работает и без них. Кроме методов ниже:

- В каждой ошибке есть подсказка для программ. \`retryable\`: подождите и отправьте тот же запрос снова. \`same_key\`:
  когда отправляете этот платёж снова, даже исправленный, оставьте его \`Idempotency-Key\`.
- \`GET /v1/payments\` фильтрует по \`external_id\`, \`created_after\` (включительно) и \`created_before\` (не включая). Плюс
  в смещении времени записывайте как \`%2B\` или указывайте \`Z\`.
- Тестовый платёж может запросить сценарий сбоя: \`"metadata": {"kopeck_scenario": "…"}\`. Другие значения, а в боевом
  платеже любые, игнорируются.

| сценарий | что происходит |
|---|---|
| \`answer_lost\` | Платёж принят, но соединение обрывается до ответа; повторный запрос возвращает этот платёж. |
| \`unavailable_twice\` | Дважды на каждый ключ — \`gateway_unavailable\` с \`Retry-After\`; третий запрос принимается. |
| \`webhook_twice\` | Событие приходит второй раз, с тем же ID. |
| \`webhooks_out_of_order\` | Событие задерживается до отправки вашего следующего события, но не дольше 30 секунд. |
| \`rate_stale\` | На каждый запрос — \`rate_unavailable\`. |
| \`review_succeeds\` | Сначала \`processing\` с \`manual_review\`, через 2 минуты — \`succeeded\`. |
| \`review_fails\` | Сначала \`processing\` с \`manual_review\`, через 2 минуты — \`failed\`. |
`,

  // Webhooks: openapi.ts
  'A payment went through; the debit is final': 'Платёж оплачен; списание окончательное',
  'A payment did not go through; the USDT were returned to the balance':
    'Платёж не прошёл; USDT вернулись на баланс',
  'Optional, only if the webhook asks for it: the recipient returned money of a payment':
    'Необязательно, только если обработчик это запросил: получатель вернул деньги за платёж',
  [`Signed with \`X-Service-Signature: t=<unix seconds>,v1=<hex>\`: HMAC-SHA256 of \`<t>.<raw body>\` with your webhook secret. Optional: the headers of [Standard Webhooks](https://www.standardwebhooks.com) carry HMAC-SHA256 of \`<webhook-id>.<webhook-timestamp>.<raw body>\`, with what follows \`whsec_\` in base64 as the key; verify either. The example is signed with the secret \`${webhookSecret}\`; its body has no spaces or line breaks between the values.`]: `Подпись — в заголовке \`X-Service-Signature: t=<секунды Unix>,v1=<hex>\`: это HMAC-SHA256 от \`<t>.<тело запроса>\` с вашим секретом для подписи; тело берите без изменений, байт в байт. Необязательно: заголовки [Standard Webhooks](https://www.standardwebhooks.com) содержат HMAC-SHA256 от \`<webhook-id>.<webhook-timestamp>.<тело запроса>\`, ключ — то, что стоит после \`whsec_\`, в base64. Достаточно проверить одну из подписей. Пример подписан секретом \`${webhookSecret}\`; в его теле нет пробелов и переносов строк между значениями.`,
  'Optional: the id of the event, the same for each attempt':
    'Необязательно: ID события, один и тот же в каждой попытке',
  'Optional: Unix seconds of the attempt': 'Необязательно: время попытки, секунды Unix',
  'Optional: `v1,<base64>` for each valid secret, separated by spaces; for endpoints that ask for it also `v1a,<base64>`, made with an Ed25519 key that only this partner and mode has (`/.well-known/webhook-keys/{partner_id}/{mode}`)':
    'Необязательно: `v1,<base64>` для каждого действующего секрета, через пробел; для обработчиков, которые это запросили, также `v1a,<base64>` с ключом Ed25519, который есть только у этого партнёра в этом режиме (`/.well-known/webhook-keys/{partner_id}/{mode}`)',
  'Received; after any other response the event is sent again':
    'Событие получено; после любого другого ответа оно отправляется снова',

  // Shapes that several methods use: shared-schemas.ts
  'RUB for 1 USDT, margin included': 'Рублей за 1 USDT, с учётом маржи',
  'The mode of the key': 'Режим ключа',
  'Identifies this request; also in the header X-Request-Id':
    'ID этого запроса; он же в заголовке X-Request-Id',
  'Assigned by the service': 'Присваивает сервис',
  '`processing` is not a refusal: the amount is debited and the outcome not yet known':
    '`processing` — это не отказ: сумма списана, а результат ещё неизвестен',
  'Details of unfinished and declined payments': 'Уточнение для незавершённых и отклонённых платежей',
  'Your order id, as sent': 'ID вашего заказа, как вы его передали',
  'According to the SBP data': 'По данным СБП',
  'Payment amount in rubles': 'Сумма платежа в рублях',
  'Amount debited from the balance': 'Сумма, списанная с баланса',
  'Creation time': 'Время создания',
  'Completion time': 'Время завершения',
  'Why a payment failed; null otherwise': 'Почему платёж не прошёл; в остальных случаях null',
  'Optional, only once the recipient has returned money: the sum of all refunds, at most `amount_rub`. The status stays `succeeded`':
    'Необязательно, только если получатель вернул деньги: сумма всех возвратов, не больше `amount_rub`. Статус остаётся `succeeded`',
  'Optional, with `refunded_rub`: what came back to the balance, at the rate of the payment':
    'Необязательно, вместе с `refunded_rub`: сколько вернулось на баланс, по курсу платежа',
  'Your metadata, as sent': 'Ваши metadata, как вы их передали',
  'Stable; rely on this': 'Не меняется; опирайтесь на него',
  'For people; may change': 'Для людей; может измениться',
  'Optional. True: wait, then send the same request again':
    'Необязательно. `true`: подождите и отправьте тот же запрос снова',
  'Optional. True: whenever you send this payment again, even after fixing it, keep its `Idempotency-Key`. False: the key is missing or belongs to another payment':
    'Необязательно. `true`: когда отправляете этот платёж снова, даже исправленный, оставьте его `Idempotency-Key`. `false`: ключа нет или он принадлежит другому платежу',
  'With `insufficient_balance`: the required amount': 'При `insufficient_balance`: необходимая сумма',
  'With `insufficient_balance`: the available balance': 'При `insufficient_balance`: доступный баланс',

  // Errors of the contract: base/errors.ts
  'The request is invalid; fix its body.': 'Запрос некорректен; исправьте его тело.',
  'Send an Idempotency-Key header with every payment.':
    'Передавайте с каждым платежом заголовок Idempotency-Key.',
  'The link is not an SBP QR code, or the code has expired.':
    'Это не ссылка из QR-кода СБП, или срок действия кода истёк.',
  'A subscription or binding QR code cannot be paid.':
    'QR-код для подписки или привязки счёта оплатить нельзя.',
  'The QR code carries no fixed amount.': 'В QR-коде нет фиксированной суммы.',
  'The amount sent differs from the amount of the QR code.':
    'Переданная сумма отличается от суммы в QR-коде.',
  'The amount is above the limit for a single payment.': 'Сумма больше лимита на один платёж.',
  'The API key is wrong, revoked, expired or missing.':
    'Ключ API неверен, отозван, просрочен или не передан.',
  'The balance does not cover the payment; top it up.': 'На балансе не хватает средств; пополните его.',
  'Access is suspended: nothing new is accepted, payments in progress are completed.':
    'Доступ приостановлен: новое не принимается, начатые платежи завершатся.',
  'Requests from this address are not allowed for this key.':
    'Запросы с этим ключом с этого IP-адреса не разрешены.',
  'Payments to this recipient are forbidden.': 'Платежи этому получателю запрещены.',
  'The daily limit is used up.': 'Дневной лимит исчерпан.',
  'There is no such resource in this account.': 'В этом аккаунте такого ресурса нет.',
  'This Idempotency-Key belongs to another payment; check the status of that one before you use a new key.':
    'Этот Idempotency-Key принадлежит другому платежу; прежде чем брать новый ключ, проверьте статус того платежа.',
  'A payment for this QR code is still running; wait for its outcome.':
    'Платёж по этому QR-коду ещё не завершён; дождитесь его результата.',
  'The data of the QR code changed since it was checked; fetch it again.':
    'Данные QR-кода изменились после проверки; получите QR-код заново.',
  'The details of the QR code could not be obtained; retry later.':
    'Не удалось получить данные QR-кода; повторите позже.',
  'Too many requests; wait as long as Retry-After says.':
    'Слишком много запросов; подождите столько, сколько указано в Retry-After.',
  'Something failed on our side; send the same request again and keep the request_id.':
    'Сбой на нашей стороне; отправьте тот же запрос ещё раз и сохраните request_id.',
  'The exchange rate is out of date and payments are paused; retry in a minute.':
    'Курс устарел, платежи временно не принимаются; повторите через минуту.',
  'The payment gateway is unavailable; retry later.': 'Платёжный шлюз недоступен; повторите позже.',
  'Too many payments at once; retry.': 'Слишком много одновременных платежей; повторите запрос.',
  'Planned maintenance; retry later.': 'Плановые технические работы; повторите позже.',

  // Errors of keys with limits: base/errors.ts
  'The scopes of this key do not allow this; use another key.':
    'У этого ключа нет нужного права; используйте другой ключ.',
  'The amount is above the limit of this key for a single payment.':
    'Сумма больше лимита этого ключа на один платёж.',
  'The daily limit of this key is used up.': 'Дневной лимит этого ключа исчерпан.',

  // Errors of locked quotes: base/errors.ts
  'There is no such locked quote in this account; lock a new one.':
    'В этом аккаунте нет такой фиксации курса; зафиксируйте курс заново.',
  'The quote was locked in the other mode; lock one with a key of this mode.':
    'Курс зафиксирован в другом режиме; зафиксируйте его с ключом этого режима.',
  'The quote was locked for another amount than that of the QR code; lock one for this amount.':
    'Курс зафиксирован для другой суммы, а не той, что в QR-коде; зафиксируйте его для этой суммы.',
  'Another payment has used this quote; lock a new one.':
    'Эта фиксация курса использована другим платежом; зафиксируйте курс заново.',
  'The locked quote has expired; lock a new one.': 'Срок фиксации курса истёк; зафиксируйте курс заново.',
  'No more can be locked now; use or let expire what is locked, or ask for a quote without lock.':
    'Больше зафиксировать сейчас нельзя; используйте то, что зафиксировано, дождитесь окончания срока или запросите расчёт без lock.',

  // The error of live keys in test mode: base/errors.ts
  'Only a test key can do this.': 'Это можно сделать только с тестовым ключом.',

  // What every method may answer: http/endpoint.ts
  'The request is malformed': 'Запрос составлен неверно',

  // Key and balance: account/routes.ts
  'Key check': 'Проверка ключа',
  'The key works': 'Ключ действует',
  'A test key': 'Тестовый ключ',
  'Available balance': 'Доступный баланс',
  'Balance in USDT': 'Баланс в USDT',
  'The balance in the mode of the key': 'Баланс в режиме ключа',
  'After the three payments': 'После трёх платежей',

  // Rate and quotes: rates/routes.ts
  'Unix seconds of the exchange data': 'Время биржевых данных, секунды Unix',
  'Maximum age of the rate for payments': 'Максимальный возраст курса для платежей, в секундах',
  'True when the rate is too old and payments are not accepted':
    '`true`, если курс устарел и платежи не принимаются',
  'Current rate': 'Текущий курс',
  'The rate for new payments': 'Курс для новых платежей',
  'Rubles for 1 USDT': 'Рублей за 1 USDT',
  'How much USDT is debited for an amount in rubles': 'Сколько USDT будет списано за сумму в рублях',
  'Rubles as a decimal string or a number, with at most 2 decimal places':
    'Рубли: десятичная строка или число, не больше двух знаков после точки',
  'Optional. True: the rate is kept for one payment of this amount until `expires_at`. It is a little lower than the current one. The key must be able to pay':
    'Необязательно. `true`: курс фиксируется для одного платежа на эту сумму до `expires_at`. Он немного ниже текущего. У ключа должно быть право `pay`',
  'What a payment of this amount would cost now': 'Сколько стоил бы платёж на эту сумму сейчас',
  'As requested': 'Как в запросе',
  'Amount that would be debited, rounded up': 'Сколько будет списано, с округлением вверх',
  'Optional, only with `lock`: send it with the payment, which then has this rate. It serves one payment':
    'Необязательно, только с `lock`: передайте его с платежом, и платёж пройдёт по этому курсу. Действует для одного платежа',
  'Optional, only with `lock`: the payment must be accepted before':
    'Необязательно, только с `lock`: платёж должен быть принят до этого времени',

  // QR codes and payments: payments/routes.ts
  'Amount of the QR code': 'Сумма из QR-кода',
  'False when the recipient is blocked or the amount is outside the limits':
    '`false`, если получатель заблокирован или сумма вне лимитов',
  'QR details without a debit': 'Данные QR-кода без списания',
  'What the code says': 'Данные из кода',
  'The code can be paid': 'Код можно оплатить',
  'Payment history, newest first': 'История платежей, сначала новые',
  'The id of the last payment on the previous page': 'ID последнего платежа на предыдущей странице',
  'Optional. Only payments with this order identifier': 'Необязательно. Только платежи с этим ID заказа',
  'Optional. Only payments created at this time or later: ISO 8601 with offset. With `created_before` of one request as `created_after` of the next, no payment is missed or returned twice':
    'Необязательно. Только платежи, созданные в это время или позже: ISO 8601 со смещением. Если передать `created_before` одного запроса как `created_after` следующего, ни один платёж не пропадёт и не повторится',
  'Optional. Only payments created before this time: ISO 8601 with offset':
    'Необязательно. Только платежи, созданные до этого времени: ISO 8601 со смещением',
  'One page of payments': 'Одна страница платежей',
  'Pass it as `starting_after`; null on the last page':
    'Передайте его как `starting_after`; на последней странице null',
  'Status of one payment: the source of truth': 'Статус платежа: источник истины',
  'The id of a payment': 'ID платежа',
  'The payment': 'Платёж',

  // Creating payments: payments/create-payment.ts
  'Link of an SBP QR code': 'Ссылка из QR-кода СБП',
  'Pay an SBP QR code': 'Оплатить QR-код СБП',
  '1 to 255 printable ASCII characters; the same one on every repeat of the same payment':
    'От 1 до 255 печатных символов ASCII; при каждом повторе того же платежа — тот же ключ',
  'Expected amount; a QR code with a different amount is rejected with `amount_mismatch`':
    'Ожидаемая сумма; QR-код с другой суммой отклоняется с `amount_mismatch`',
  'Your order identifier': 'ID вашего заказа',
  'Optional. A quote that was locked for this amount: the payment has its rate, also while the current one is stale':
    'Необязательно. Фиксация курса для этой суммы: платёж пройдёт по зафиксированному курсу, даже если текущий устарел',
  'Arbitrary data, returned in the payment and in webhooks. At most 16 KiB':
    'Произвольные данные, возвращаются в платеже и в вебхуках. Не больше 16 КиБ',
  'The payment, also when it was declined': 'Платёж, в том числе отклонённый',

  // Events: events/routes.ts
  'The same events as webhooks, oldest first': 'Лента событий: те же, что в вебхуках, сначала старые',
  'An addition to the contract. Store the id of the last event that you handled and pass it as `after`: you miss no event and get none twice. An id that is not an event of this partner and mode returns `not_found`. In test mode, so does the id of a deleted event if later events were deleted too: start again with `evt_0`.':
    'Дополнение к контракту. Храните ID последнего обработанного события и передавайте его как `after`: ни одно событие не пропадёт и не повторится. На ID, который не принадлежит событию этого партнёра и режима, приходит `not_found`. В тестовом режиме то же относится к ID удалённого события, если удалены и более поздние: начните снова с `evt_0`.',
  'The id of the last event that you have; without it, or with `evt_0`, the list starts with the first event. `latest` returns the `next_cursor` for new events only':
    'ID последнего события, которое у вас есть; без него или с `evt_0` список начинается с первого события. `latest` возвращает `next_cursor`, с которым придут только новые события',
  'Optional. Also list events of this kind, which are not in the list otherwise':
    'Необязательно. Добавить в список события этого вида: без параметра их там нет',
  'Events after the given one': 'События после указанного',
  'Pass it as `after`, now or later; with `has_more` also if `data` is empty':
    'Передайте его как `after` сейчас или позже; при `has_more` — даже если `data` пуст',

  // Deposits: deposits/routes.ts
  'Permanent; yours alone': 'Постоянный; закреплён только за вами',
  'Deposits below it are summed until they reach it':
    'Меньшие пополнения складываются, пока не наберётся эта сумма',
  'How long a deposit usually takes to become final':
    'За сколько минут пополнение обычно становится окончательным',
  '`pending`: seen, not final yet. `dropped`: its block was replaced before it was final. `screening`: final, being checked. `accumulating`: final, below the smallest amount. `credited`: on your balance. `held`: support decides. `rejected`: will not be credited':
    '`pending`: обнаружено, ещё не окончательное. `dropped`: блок заменён другим раньше, чем стал окончательным. `screening`: окончательное, идёт проверка. `accumulating`: окончательное, меньше минимальной суммы. `credited`: зачислено на баланс. `held`: решение за поддержкой. `rejected`: зачислено не будет',
  'Rounded down to six places': 'С округлением вниз до шести знаков',
  'On the chain': 'ID транзакции в сети',
  'Number of its log, as the node counted it. Nodes count differently: it identifies nothing.':
    'Номер записи (log) в нумерации узла. Узлы нумеруют по-разному, поэтому номер ничего не идентифицирует.',
  'When it was first seen': 'Когда обнаружено',
  'When it was credited': 'Когда зачислено',
  'The reference of the credit in your statement; deposits that were summed have the same':
    'Основание пополнения в вашей выписке; у сложенных пополнений оно общее',
  'Where to send USDT to top up your balance': 'Адреса для пополнения баланса в USDT',
  'One permanent address per chain that the service accepts; empty if it accepts none. Send only USDT of that chain. With a test key the list is empty: deposits are live money.':
    'По одному постоянному адресу для каждой сети, которую принимает сервис; если он не принимает ни одной, список пуст. Отправляйте на адрес только USDT этой сети. С тестовым ключом список пуст: пополнения — это настоящие деньги.',
  'Your addresses': 'Ваши адреса',
  'One chain': 'Одна сеть',
  'Your USDT deposits, newest first': 'Ваши пополнения в USDT, сначала новые',
  'A deposit is credited once, when the chain is final. An unknown or foreign `starting_after`: 404 `not_found`. With a test key the list is empty.':
    'Пополнение зачисляется один раз, когда оно стало окончательным в сети. Неизвестный или чужой `starting_after` — 404 `not_found`. С тестовым ключом список пуст.',
  'The `next_cursor` of the page before': '`next_cursor` предыдущей страницы',
  'A page of deposits': 'Страница пополнений',
  'Pass it as `starting_after`': 'Передайте его как `starting_after`',
  'The first page': 'Первая страница',

  // Statements: statement/routes.ts
  'Negative: total of all top-ups': 'Отрицательное число: сумма всех пополнений',
  'Negative: total granted in test mode': 'Отрицательное число: сколько всего выдано в тестовом режиме',
  'On hold for unfinished payments': 'Зарезервировано для незавершённых платежей',
  'Spent on succeeded payments': 'Потрачено на оплаченные платежи',
  'Sequential number': 'Порядковый номер',
  'False for today: more entries may follow': '`false` для текущего дня: проводок может стать больше',
  'At the start of the day': 'На начало дня',
  'Amount of the entry': 'Сумма проводки',
  'After this entry': 'После этой проводки',
  'Reference of a credit': 'Основание пополнения',
  'At the end of the day, or now': 'На конец дня или на текущий момент',
  'Amount on hold': 'Зарезервированная сумма',
  'Payments that were unfinished at that time': 'Платежи, не завершённые на этот момент',
  'The same as CSV; the last line is the digest': 'То же в формате CSV; последняя строка — контрольная сумма',
  'The ledger entries of a UTC day': 'Выписка: проводки за день по UTC',
  'Opening balances, every entry with the balances after it, closing balances, and the open holds, for the mode of the key. A day that is over is `closed`: its statement never changes again, byte for byte, so the request id is only in the header. The statement of today ends now and is not closed. A day that has not started: 400 `invalid_request`. A day of test mode whose data was deleted: 404 `not_found`. The digest is SHA-256 over the CSV form without its last line; both forms end with it, and `ETag` carries it, so `If-None-Match` gets 304.':
    'Входящие остатки, все проводки с остатками после каждой, исходящие остатки и открытые резервы — для режима ключа. Прошедший день закрыт (`closed`): его выписка больше не меняется ни на байт, поэтому ID запроса есть только в заголовке. Выписка за сегодня заканчивается текущим моментом и не закрыта. День, который ещё не начался, — 400 `invalid_request`. День тестового режима, данные которого удалены, — 404 `not_found`. Контрольная сумма (`digest`) — это SHA-256 выписки в формате CSV без последней строки; ею заканчиваются оба формата, и её содержит `ETag`, поэтому на `If-None-Match` приходит 304.',
  'A UTC day': 'День по UTC',
  'The statement': 'Выписка',
  'The statement has not changed': 'Выписка не изменилась',

  // Test mode: test-mode/routes.ts
  'Total time advanced, in seconds': 'На сколько всего переведены часы, в секундах',
  'How far your test clock was advanced': 'На сколько переведены ваши тестовые часы',
  'The total of all advances': 'На сколько часы переведены всего',
  'Advanced once': 'Часы переведены один раз',
  'Advance your test clock': 'Перевести ваши тестовые часы вперёд',
  'Shortens all current waits of your test payments: outcomes of unfinished payments (the 30 seconds of .02; the 2 minutes of a review), the backoff before the next webhook attempt, events that are held back. Whatever becomes due happens immediately. A wait that starts later, such as the backoff after the next attempt, has its full length. Times of payments and entries come from the real clock, and live payments are not affected. Test keys only: a live key gets 403 `test_key_required`.':
    'Сокращает все текущие ожидания ваших тестовых платежей: результата незавершённых платежей (30 секунд при .02, 2 минуты ручной проверки), следующей попытки отправить вебхук, задержанных событий. Всё, чей срок наступил, происходит сразу. Ожидание, которое начнётся позже, например пауза после следующей попытки, длится полностью. Время платежей и проводок берётся с настоящих часов, на боевые платежи метод не влияет. Только для тестовых ключей: боевой ключ получает 403 `test_key_required`.',
  'The total of all advances, this one included': 'На сколько часы переведены всего, включая этот раз',
  'Order-44 is final now': 'Платёж order-44 теперь завершён',
  'What was credited': 'Сколько зачислено',
  'The test balance now': 'Текущий тестовый баланс',
  'Simulate a USDT deposit in test mode': 'Имитировать пополнение в USDT в тестовом режиме',
  'Credits your test balance immediately; in live mode a deposit follows a transfer on chain. The statement shows the credit with the reference `deposit:test:` and yours. The same reference with the same amount credits nothing more and gets the same answer, with another amount 409 `idempotency_conflict`. At most 100 a day, then 403 `daily_limit_exceeded`. Test keys only: a live key gets 403 `test_key_required`.':
    'Пополняет тестовый баланс сразу; в боевом режиме для этого нужен перевод в сети. В выписке у пополнения основание `deposit:test:` и за ним ваше. То же основание с той же суммой ничего больше не зачисляет и получает тот же ответ, с другой суммой — 409 `idempotency_conflict`. Не больше 100 в день, затем 403 `daily_limit_exceeded`. Только для тестовых ключей: боевой ключ получает 403 `test_key_required`.',
  'From 0.000001 to 1000000, with at most six places':
    'От 0.000001 до 1000000, не больше шести знаков после точки',
  'Yours: 1 to 64 letters, digits, dots, hyphens and underscores. Each is credited once':
    'Ваше основание: от 1 до 64 латинских букв, цифр, точек, дефисов и подчёркиваний. Каждое зачисляется один раз',
  '250 USDT': '250 USDT',
  'The credit, made now or before': 'Пополнение, выполненное сейчас или раньше',
  Credited: 'Зачислено',
  'Simulate a refund in test mode': 'Имитировать возврат в тестовом режиме',
  'Returns money of a test payment that succeeded, as if its recipient had refunded it: the payment gets `refunded_rub` and `refunded_usdt`, the balance and the statement an entry, and endpoints that ask for it the event `payment.refunded`. The same reference with the same payment and amount refunds nothing more and gets the same answer, otherwise 409 `idempotency_conflict`. At most 100 a day, then 403 `daily_limit_exceeded`. Test keys only: a live key gets 403 `test_key_required`.':
    'Возвращает деньги оплаченного тестового платежа, как если бы возврат сделал получатель: у платежа появляются `refunded_rub` и `refunded_usdt`, на балансе и в выписке — проводка, а обработчики, которые на него подписаны, получают событие `payment.refunded`. То же основание с тем же платежом и той же суммой ничего больше не возвращает и получает тот же ответ, иначе — 409 `idempotency_conflict`. Не больше 100 в день, затем 403 `daily_limit_exceeded`. Только для тестовых ключей: боевой ключ получает 403 `test_key_required`.',
  'From 0.01 to what is left of the payment; without it, all of that':
    'От 0.01 до остатка платежа; если не указано — весь остаток',
  'Yours: 1 to 64 letters, digits, dots, hyphens and underscores. Each is refunded once':
    'Ваше основание: от 1 до 64 латинских букв, цифр, точек, дефисов и подчёркиваний. По каждому деньги возвращаются один раз',
  'A part of order-42': 'Часть платежа order-42',
  'What came back with this refund': 'Сколько вернулось этим возвратом',
  'The same at the rate of the payment': 'То же по курсу платежа',
  'The sum of the refunds of the payment up to this one': 'Сумма возвратов платежа вместе с этим',
  'The same in USDT': 'То же в USDT',
  'The refund, made now or before': 'Возврат, выполненный сейчас или раньше',
  Refunded: 'Возвращено',

  // Examples of requests: examples.ts
  'Order-42: a payment that succeeds': 'Order-42: платёж будет оплачен',
  'Order-43: .01 is declined in test mode': 'Order-43: .01 в тестовом режиме отклоняется',
  'Order-44: .02 is processing for 30 seconds in test mode':
    'Order-44: .02 в тестовом режиме 30 секунд остаётся в обработке',
  'Before order-42 is paid': 'Перед оплатой order-42',
  'The same, and the price has to hold': 'То же, но с фиксацией курса',
  'The code of order-42': 'Код заказа order-42',
  'The wait of order-44': 'Время ожидания order-44',

  // Examples of answers: examples.ts, statement-example.ts
  'Paid; the debit is final': 'Оплачен; списание окончательное',
  'Declined; the USDT were returned': 'Отклонён; USDT вернулись на баланс',
  'Debited, and the outcome is not known yet': 'Сумма списана, результат ещё неизвестен',
  'The three payments of the morning': 'Три платежа за утро',
  'One event for each final payment': 'По событию на каждый завершённый платёж',
  '305.10 / 92.5, rounded up to the sixth place': '305.10 / 92.5 с округлением вверх до шестого знака',
  'The rate is 0.5% lower, and holds for a minute': 'Курс на 0,5 % ниже и действует минуту',
  'The same as CSV': 'То же в формате CSV',
};
