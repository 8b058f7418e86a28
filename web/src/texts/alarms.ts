import { inBoth, type Words } from './index.ts';

export const alarmKinds: Words = {
  archive_failed: ['Old months cannot be archived', 'Не удаётся перенести старые месяцы в архив'],
  asynchronous_standby: [
    'Asynchronous standby: recent payments could be lost',
    'Асинхронный резервный сервер: последние платежи могут потеряться',
  ],
  clock_offset: ['Server clock is wrong', 'Неверное время на сервере'],
  gateway_contradiction: ['Conflicting responses from the gateway', 'Противоречивые ответы шлюза'],
  foreign_orders: ['Another installation uses the same gateway', 'С этим шлюзом работает другая установка'],
  gateway_unreachable: ['Gateway is unreachable', 'Шлюз недоступен'],
  history_recovery_waits: [
    'Lost payments cannot be restored yet',
    'Утраченные платежи пока нельзя восстановить',
  ],
  history_watch_waits: [
    'Late gateway orders cannot be listed',
    'Не удаётся получить запоздалые поручения шлюза',
  ],
  stray_order: ['Unmatched order', 'Несопоставленное поручение'],
  reconciliation_failed: ['Reconciliation failed', 'Сверка не выполнена'],
  reconciliation_differs: ['Reconciliation found a discrepancy', 'Сверка нашла расхождение'],
  payment_overdue: ['Payment is overdue', 'Платёж просрочен'],
  refund_not_booked: ['Refund was not booked', 'Возврат не проведён'],
  refund_revoked: ['Refund was revoked after booking', 'Проведённый возврат отозван'],
  refunds_not_read: ['Refunds cannot be read', 'Не удаётся прочитать возвраты'],
  deposit_chain_late: ['Deposits are booked late', 'Пополнения зачисляются с задержкой'],
  deposit_discrepancy: ['Deposits differ from the chain', 'Пополнения расходятся с сетью'],
  deposit_held: ['Deposit is held', 'Пополнение задержано'],
  deposit_node_failing: ['Blockchain node is failing', 'Сбой узла блокчейна'],
  deposit_nodes_disagree: ['Blockchain nodes disagree', 'Данные узлов блокчейна расходятся'],
  deposit_unread: ['Transfers could not be read', 'Переводы не удалось прочитать'],
  deposit_watch_failing: ['Deposits cannot be read', 'Не удаётся прочитать пополнения'],
  rate_sources_disagree: ['Rate sources disagree', 'Источники курса расходятся'],
  rate_outlier: ['Rate source deviates from the others', 'Источник курса отклоняется от остальных'],
  rate_jump: ['Sharp rate change', 'Резкое изменение курса'],
  rate_unavailable: ['No rate', 'Нет курса'],
  archive_unreachable: [
    'Archive worker is unreachable: old payments cannot be read',
    'Узел архива недоступен: старые платежи не читаются',
  ],
  wal_not_archived: [
    'WAL is not archived: recent payments are not in the backup',
    'WAL не архивируется: последних платежей нет в резервной копии',
  ],
  webhook_suspended: ['Webhook suspended', 'Вебхук приостановлен'],
  webhook_secret_unreadable: ['Webhook secret cannot be read', 'Не читается секрет вебхука'],
};

/** What the overview and the page of alarms share. */
export const alarmTexts = inBoth({
  clear: ['Clear', 'Закрыть'],
  clearTitle: ['Clear alarm', 'Закрыть оповещение'],
  clearSays: [
    'The alarm is closed for all operators. If the problem persists, it is raised again.',
    'Оповещение закроется для всех сотрудников. Если проблема осталась, оно появится снова.',
  ],
  kinds: alarmKinds,
});
