import { inBoth, type Words } from '../../texts/index.ts';

export const texts = inBoth({
  lead: [
    'Compares our payments with the orders of the payment gateway. It runs every hour; you can reconcile any day again.',
    'Сравнивает наши платежи с поручениями платёжного шлюза. Выполняется каждый час; любой день можно сверить ещё раз.',
  ],
  runs: ['Reconciliations', 'Сверки'],
  start: ['Reconcile a day', 'Сверить день'],
  startSays: [
    'Reads all orders of this day (UTC) from the payment gateway and compares them with our payments. Payments are not changed.',
    'Прочитает все поручения за этот день (UTC) из платёжного шлюза и сравнит их с нашими платежами. Платежи не изменятся.',
  ],
  startVerb: ['Reconcile', 'Сверить'],
  none: ['No reconciliations yet', 'Сверок пока не было'],
  noneHint: ['They run automatically.', 'Они запускаются автоматически.'],
  period: ['Period (UTC)', 'Период (UTC)'],
  result: ['Result', 'Результат'],
  orders: ['Gateway orders', 'Поручений в шлюзе'],
  payments: ['Our payments', 'Наших платежей'],
  startedAt: ['Started', 'Начата'],
  finishedAt: ['Finished', 'Завершена'],
  by: ['Started by', 'Кто запустил'],
  differ: (count: number) => [
    count === 1 ? '1 discrepancy' : `${count} discrepancies`,
    `Расхождений: ${count}`,
  ],
  differAtLeast: (count: number) => [`At least ${count} discrepancies`, `Расхождений не меньше ${count}`],
  unfinished: (count: number) => [`Not completed yet: ${count}`, `Ещё не завершено: ${count}`],
  incompleteRun: ['Incomplete', 'Неполная'],
  paidThere: (count: number) => [
    `Paid at the gateway, open here: ${count}`,
    `Оплачено в шлюзе, а у нас не завершено: ${count}`,
  ],
  paidThereHint: [
    'The money has reached the recipient, but the partner does not know it yet. Open the payment and check its status.',
    'Деньги дошли до получателя, но партнёр об этом ещё не знает. Откройте платёж и проверьте его статус.',
  ],
  incomplete: ['Not all discrepancies are listed', 'Показаны не все расхождения'],
  incompleteHint: [
    'There are more discrepancies than one reconciliation can list, or the list of refunds could not be read. Other payments may differ too, and no alarm was cleared. Resolve these and reconcile again.',
    'Расхождений больше, чем помещается в одну сверку, или список возвратов получить не удалось. Другие платежи тоже могут расходиться, оповещения не закрыты. Разберите эти расхождения и повторите сверку.',
  ],
  run: ['Reconciliation', 'Сверка'],
  allRuns: ['All reconciliations', 'Все сверки'],
  differences: ['Discrepancies', 'Расхождения'],
  underWay: ['Running…', 'Выполняется…'],
  agree: ['No discrepancies', 'Расхождений нет'],
  agreeHint: [
    'Every payment has a gateway order with the same amount and status.',
    'У каждого платежа есть поручение в шлюзе с той же суммой и тем же статусом.',
  ],
  kind: ['Discrepancy', 'Расхождение'],
  kinds: {
    paid_there_not_here: ['Paid at the gateway only', 'Оплачен только в шлюзе'],
    here_not_there: ['Not paid at the gateway', 'Не оплачен в шлюзе'],
    amounts_differ: ['Amounts differ', 'Суммы различаются'],
    still_open: ['Not completed yet', 'Ещё не завершён'],
    paid_there_open_here: ['Paid at the gateway, open here', 'Оплачен в шлюзе, у нас не завершён'],
    refunds_differ: ['Refunds differ', 'Возвраты различаются'],
  } as Words,
  meanings: {
    paid_there_not_here: [
      'The gateway has paid it, but the payment has not succeeded with us.',
      'В шлюзе оплачен, а у нас нет.',
    ],
    here_not_there: [
      'The payment has succeeded with us, but the gateway has not paid it.',
      'У нас оплачен, а в шлюзе нет.',
    ],
    amounts_differ: [
      'Our amount and the amount at the gateway differ.',
      'Наша сумма и сумма в шлюзе различаются.',
    ],
    still_open: ['The payment is still processing.', 'Платёж ещё в обработке.'],
    paid_there_open_here: [
      'The gateway has paid it, but the payment is still processing with us.',
      'В шлюзе оплачен, а у нас ещё в обработке.',
    ],
    refunds_differ: [
      'The sum of its refunds with us and at the gateway differs.',
      'Сумма возвратов у нас и в шлюзе различается.',
    ],
  } as Words,
  here: ['Our status', 'Статус у нас'],
  amountHere: ['Our amount, ₽', 'Сумма у нас, ₽'],
  there: ['Gateway status', 'Статус в шлюзе'],
  amountThere: ['Gateway amount, ₽', 'Сумма в шлюзе, ₽'],
  unknown: ['none', 'нет'],
  orderStates: {
    succeeded: ['Paid', 'Оплачено'],
    declined: ['Declined', 'Отклонено'],
    voided: ['Cancelled', 'Отменено'],
    processing: ['Processing', 'В обработке'],
    pending: ['Processing', 'В обработке'],
    accepted: ['Accepted', 'Принято'],
  } as Words,
});
