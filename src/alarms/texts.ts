type Title = Record<'en' | 'ru', string>;

/** By the kind of an alarm, for the console and the staff chat. */
export const alarmTitles: Record<string, Title> = {
  archive_failed: { en: 'Old months cannot be archived', ru: 'Не удаётся перенести старые месяцы в архив' },
  asynchronous_standby: {
    en: 'Asynchronous standby: recent payments could be lost',
    ru: 'Асинхронный резервный сервер: последние платежи могут потеряться',
  },
  clock_offset: { en: 'Server clock is wrong', ru: 'Неверное время на сервере' },
  gateway_contradiction: { en: 'Conflicting responses from the gateway', ru: 'Противоречивые ответы шлюза' },
  foreign_orders: {
    en: 'Another installation uses the same gateway',
    ru: 'С этим шлюзом работает другая установка',
  },
  gateway_unreachable: { en: 'Gateway is unreachable', ru: 'Шлюз недоступен' },
  history_recovery_waits: {
    en: 'Lost payments cannot be restored yet',
    ru: 'Утраченные платежи пока нельзя восстановить',
  },
  history_watch_waits: {
    en: 'Late gateway orders cannot be listed',
    ru: 'Не удаётся получить запоздалые поручения шлюза',
  },
  stray_order: { en: 'Unmatched order', ru: 'Несопоставленное поручение' },
  reconciliation_failed: { en: 'Reconciliation failed', ru: 'Сверка не выполнена' },
  reconciliation_differs: { en: 'Reconciliation found a discrepancy', ru: 'Сверка нашла расхождение' },
  payment_overdue: { en: 'Payment is overdue', ru: 'Платёж просрочен' },
  refund_not_booked: { en: 'Refund was not booked', ru: 'Возврат не проведён' },
  refund_revoked: { en: 'Refund was revoked after booking', ru: 'Проведённый возврат отозван' },
  refunds_not_read: { en: 'Refunds cannot be read', ru: 'Не удаётся прочитать возвраты' },
  deposit_chain_late: { en: 'Deposits are booked late', ru: 'Пополнения зачисляются с задержкой' },
  deposit_discrepancy: { en: 'Deposits differ from the chain', ru: 'Пополнения расходятся с сетью' },
  deposit_held: { en: 'Deposit is held', ru: 'Пополнение задержано' },
  deposit_node_failing: { en: 'Blockchain node is failing', ru: 'Сбой узла блокчейна' },
  deposit_nodes_disagree: { en: 'Blockchain nodes disagree', ru: 'Данные узлов блокчейна расходятся' },
  deposit_unread: { en: 'Transfers could not be read', ru: 'Переводы не удалось прочитать' },
  deposit_watch_failing: { en: 'Deposits cannot be read', ru: 'Не удаётся прочитать пополнения' },
  rate_sources_disagree: { en: 'Rate sources disagree', ru: 'Источники курса расходятся' },
  rate_outlier: { en: 'Rate source deviates from the others', ru: 'Источник курса отклоняется от остальных' },
  rate_jump: { en: 'Sharp rate change', ru: 'Резкое изменение курса' },
  rate_unavailable: { en: 'No rate', ru: 'Нет курса' },
  archive_unreachable: {
    en: 'Archive worker is unreachable: old payments cannot be read',
    ru: 'Узел архива недоступен: старые платежи не читаются',
  },
  wal_not_archived: {
    en: 'WAL is not archived: recent payments are not in the backup',
    ru: 'WAL не архивируется: последних платежей нет в резервной копии',
  },
  webhook_suspended: { en: 'Webhook suspended', ru: 'Вебхук приостановлен' },
  webhook_secret_unreadable: { en: 'Webhook secret cannot be read', ru: 'Не читается секрет вебхука' },
};

/** A kind that only another release knows is shown as it is. */
export const titleOfAlarm = (kind: string): Title => alarmTitles[kind] ?? { en: kind, ru: kind };
