import { type Facts, inBoth, type Words } from '../../texts/language.ts';
import { paymentErrors } from '../../texts/payment-errors.ts';

export const texts = inBoth({
  all: ['← All payments', '← Все платежи'],
  inReview: [
    'The bank has not confirmed the result yet. Do not pay again and do not refund your customer: we keep checking.',
    'Банк ещё не подтвердил результат. Не платите повторно и не возвращайте деньги клиенту: мы продолжаем проверять.',
  ],
  debited: ['Debited', 'Списано'],
  refunded: ['Refunded to the balance', 'Возвращено на баланс'],
  id: ['Payment ID', 'ID платежа'],
  key: 'Idempotency-Key',
  qr: ['QR link', 'Ссылка QR'],
  request: ['API request', 'Запрос к API'],
  timeline: ['Timeline', 'История'],
  what: {
    created: ['Created', 'Создан'],
    manual_review: ['Waiting for the bank', 'Ждём ответа банка'],
    succeeded: ['Succeeded', 'Успешный'],
    failed: ['Failed', 'Неуспешный'],
    hold: ['Amount put on hold', 'Сумма захолдирована'],
    settle: ['Debit is final', 'Списание окончательное'],
    release: ['Amount returned to the balance', 'Сумма возвращена на баланс'],
    refund: ['Refunded by the recipient', 'Получатель вернул деньги'],
    'payment.succeeded': ['Event payment.succeeded', 'Событие payment.succeeded'],
    'payment.failed': ['Event payment.failed', 'Событие payment.failed'],
    delivered: ['Webhook delivered', 'Вебхук доставлен'],
    not_delivered: ['Webhook not delivered', 'Вебхук не доставлен'],
    given_up: ['All webhook attempts failed', 'Все попытки доставки исчерпаны'],
    next_attempt: ['Next webhook attempt', 'Следующая попытка доставки'],
  } as Words,
  named: {
    usdt: value => [`${value} USDT`, `${value} USDT`],
    rub: value => [`${value} ₽`, `${value} ₽`],
    attempt: value => [`attempt ${value}`, `попытка ${value}`],
    http_status: value => [`HTTP ${value}`, `HTTP ${value}`],
  } as Facts,
  errors: {
    ...paymentErrors,
    not_executed: ['The payment was not executed.', 'Платёж не исполнен.'],
  } as Words,
});
