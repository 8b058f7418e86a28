import { type Both, inBoth, type Words } from '../../texts/index.ts';

export const texts = inBoth({
  lead: [
    'Double-entry ledger: every entry moves an amount from one account to another. Entries are never changed or deleted.',
    'Двойная запись: каждая проводка переносит сумму с одного счёта на другой. Проводки не меняются и не удаляются.',
  ],
  trial: ['Trial balance', 'Оборотно-сальдовая ведомость'],
  trialSays: [
    'All partners. Incoming funds are negative, their use is positive: the total is zero.',
    'По всем партнёрам. Поступления со знаком минус, их использование с плюсом: итог равен нулю.',
  ],
  addsUp: ['Balanced', 'Сходится'],
  doesNotAddUp: ['Not balanced', 'Не сходится'],
  account: ['Account', 'Счёт'],
  liveUsdt: ['Live, USDT', 'Боевой, USDT'],
  testUsdt: ['Test, USDT', 'Тестовый, USDT'],
  names: {
    topup: ['Credits', 'Пополнения'],
    treasury: ['Treasury', 'Казначейство'],
    available: ['Available', 'Доступно'],
    held: ['Held', 'Зарезервировано'],
    settled: ['Settled', 'Списано'],
    total: ['Total', 'Итого'],
  } as Words & Record<'topup' | 'treasury' | 'available' | 'held' | 'settled', Both>,
  meanings: {
    topup: ['Source of credited funds', 'Источник пополнений'],
    treasury: ['Source of test funds', 'Источник тестовых средств'],
    available: ['Available for payments', 'Доступно для платежей'],
    held: ['Held for payments in progress', 'Зарезервировано под платежи в обработке'],
    settled: ['Debited for succeeded payments', 'Списано за оплаченные платежи'],
    total: ['Must be zero', 'Должно быть равно нулю'],
  } as Words,
  accounts: ['Accounts', 'Счета'],
  noAccounts: ['No accounts yet', 'Счетов пока нет'],
  noAccountsHint: [
    'Every partner has a live and a test account.',
    'У каждого партнёра есть боевой и тестовый счёт.',
  ],
  entries: ['Entries', 'Проводки'],
  verify: ['Ledger verification', 'Проверка учёта'],
  verifyNow: ['Verify now', 'Проверить'],
  verifySays: [
    'Recalculates all balances from the entries and checks all rules of the ledger.',
    'Пересчитывает все остатки по проводкам и проверяет все правила учёта.',
  ],
  verifying: [
    'Reading all entries. This can take minutes…',
    'Читаем все проводки. Это может занять несколько минут…',
  ],
  inOrder: ['Verification passed', 'Проверка пройдена'],
  notInOrder: ['Verification failed', 'Проверка не пройдена'],
  entriesRead: ['entries read', 'проводок прочитано'],
  holds: ['Passed', 'Пройдено'],
  broken: (count: number) => [`Failed: ${count}`, `Нарушений: ${count}`],
  invariants: {
    'entries add up to the balances': ['Entries add up to the balances', 'Остатки равны сумме проводок'],
    'all accounts sum to zero': ['All accounts sum to zero', 'Сумма всех счетов равна нулю'],
    'no balance is below zero': ['No balance is negative', 'Отрицательных остатков нет'],
    'entries are numbered without gaps': [
      'Entries are numbered without gaps',
      'Нумерация проводок без пропусков',
    ],
    'times never go back': ['Entries are in chronological order', 'Проводки идут в хронологическом порядке'],
    'no time is in the future': ['No entry has a time in the future', 'Проводок с будущей датой нет'],
    'each entry carries the balance after it': [
      'Each entry has the correct balance after it',
      'В каждой проводке верный остаток после неё',
    ],
    'one hold per payment, and at most one settle or release of the same amount': [
      'Each payment has one hold and at most one settlement or release of the same amount',
      'У каждого платежа одно резервирование и не больше одного списания или снятия резерва на ту же сумму',
    ],
    'one credit per reference': ['Each reference is credited once', 'По каждому основанию одно пополнение'],
    'what is held is the sum of the open holds': [
      'The held balance equals the open holds',
      'Зарезервировано столько, сколько в открытых резервах',
    ],
    'the turnover of the day is the sum of its payments': [
      'The turnover of the day equals its payments',
      'Оборот за день равен сумме платежей',
    ],
    'each refund has its entry, and each such entry its refund': [
      'Each refund has its entry',
      'У каждого возврата есть проводка',
    ],
    'refunds of a payment add up to their totals': [
      'The refunds of each payment add up',
      'Возвраты по каждому платежу складываются в итог',
    ],
    'refunds are of payments that succeeded, at their rate, and never more than was paid': [
      'Refunds belong to succeeded payments, at their rate, and never exceed what was paid',
      'Возвраты относятся к оплаченным платежам, по их курсу и не больше оплаченного',
    ],
    'up to a checkpoint only its open holds are left': [
      'Deleted test data leaves only the open holds of its checkpoint',
      'От удалённых тестовых данных остались только открытые резервы',
    ],
    'each archived month is as it was archived': [
      'Archived months are unchanged',
      'Архивные месяцы не изменены',
    ],
    'nothing is both live and archived': [
      'No record is both current and archived',
      'Нет записей одновременно в базе и в архиве',
    ],
    'every archived payment has its key, and every archived credit its reference': [
      'Archived payments have their keys, and archived credits their references',
      'У архивных платежей есть ключи, у архивных пополнений — основания',
    ],
  } as Words,
  allAccounts: ['All accounts', 'Все счета'],
  toPartner: ['Partner page', 'Страница партнёра'],
  noEntries: ['No entries yet', 'Проводок пока нет'],
  kind: ['Type', 'Тип'],
  kinds: {
    credit: ['Credit', 'Пополнение'],
    grant: ['Test funds', 'Тестовые средства'],
    hold: ['Hold', 'Резервирование'],
    settle: ['Settlement', 'Списание'],
    release: ['Release', 'Снятие резерва'],
    refund: ['Refund', 'Возврат'],
  },
  fromTo: ['From → to', 'Откуда → куда'],
  amount: ['Amount, USDT', 'Сумма, USDT'],
  availableAfter: ['Available balance, USDT', 'Доступный остаток, USDT'],
});
