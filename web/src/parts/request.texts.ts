import { inBoth, type Words } from '../texts/index.ts';

export const texts = inBoth({
  kinds: {
    resolve: ['Resolve payment', 'Завершить платёж вручную'],
    credit: ['Credit balance', 'Пополнить баланс'],
    thresholds: ['Change dual approval thresholds', 'Изменить пороги подтверждения'],
    release: ['Release unmatched order', 'Снять блокировку несопоставленного поручения'],
    deposit: ['Decide on held deposit', 'Решение по задержанному пополнению'],
  },
  states: {
    waiting: ['Pending', 'Ожидает'],
    approved: ['Approved', 'Подтверждён'],
    refused: ['Rejected', 'Отклонён'],
    withdrawn: ['Withdrawn', 'Отозван'],
    void: ['Void', 'Недействителен'],
  } as Words,
  requestedBy: ['Requested by', 'Автор запроса'],
  decidedBy: ['Decided by', 'Решение принял'],
  names: {
    outcome: ['New status', 'Новый статус'],
    mode: ['Mode', 'Режим'],
    usdt: ['Amount, USDT', 'Сумма, USDT'],
    reference: ['Reference', 'Основание'],
    sender: ['Sender', 'Отправитель'],
    resolve_rub: ['Payment resolution above, ₽', 'Завершение платежа свыше, ₽'],
    credit_usdt: ['Balance credit above, USDT', 'Пополнение баланса свыше, USDT'],
    expected_status_detail: ['Current status', 'Текущий статус'],
  } as Words,
  words: {
    succeeded: ['Succeeded: the amount stays debited', 'Оплачен: сумма остаётся списанной'],
    failed: ['Failed: the amount is returned to the partner', 'Не прошёл: сумма вернётся партнёру'],
    live: ['Live', 'Боевой'],
    test: ['Test', 'Тестовый'],
    manual_review: ['Manual review', 'Ручная проверка'],
    credited: ['Credited to the partner', 'Зачислить партнёру'],
    rejected: ['Rejected: the partner is not credited', 'Отклонить: партнёру не зачисляется'],
  } as Words,
  approve: ['Approve', 'Подтвердить'],
  refuse: ['Reject', 'Отклонить'],
  withdraw: ['Withdraw', 'Отозвать'],
  approveSays: [
    'The action is carried out immediately. You are recorded as the second operator.',
    'Действие будет выполнено сразу. Вы будете указаны как второй сотрудник.',
  ],
  refuseSays: [
    'The action is not carried out. The requester can send a new request.',
    'Действие не будет выполнено. Автор сможет отправить новый запрос.',
  ],
  withdrawSays: [
    'Your request is withdrawn. The action is not carried out.',
    'Ваш запрос будет отозван. Действие не будет выполнено.',
  ],
  own: [
    'This is your own request: another operator must decide.',
    'Это ваш запрос: решение должен принять другой сотрудник.',
  ],
  mayNot: ['Your role does not allow this decision.', 'Ваша роль не позволяет принять это решение.'],
});
