import type { ReportLanguage } from './texts.ts';

interface Conclusion {
  day: string;
  partner: string;
  usdt: string;
  held: string;
  processing: number;
}

const ru = {
  title: 'Акт сверки взаимных расчётов',
  period: (from: string, to: string) => `за период с ${from} по ${to}`,
  between: (partner: string, id: string) => `между сервисом Kopeck и партнёром «${partner}» (${id})`,
  testMode: 'Тестовый режим: расчёты условные.',
  preliminary: (at: string) => `Предварительный: период не завершён, данные на ${at}.`,
  lead: (timeZone: string) =>
    `Взаимные расчёты ведутся в USDT. Дни — по часовому поясу ${timeZone}. Платёж учтён в день, когда списание стало окончательным, возврат и пополнение — в день зачисления.`,
  date: 'Дата',
  content: 'Содержание',
  count: 'Кол-во',
  rub: 'Сумма, ₽',
  debit: 'Kopeck: дебет, USDT',
  credit: 'Kopeck: кредит, USDT',
  theirDebit: 'Партнёр: дебет, USDT',
  theirCredit: 'Партнёр: кредит, USDT',
  movements: {
    succeeded: 'Оплаченные платежи',
    refund: 'Возвраты от получателей',
    credit: 'Пополнения баланса',
    grant: 'Тестовые пополнения',
  },
  opening: 'Сальдо на начало',
  turnover: 'Обороты за период',
  closing: 'Сальдо на конец',
  conclusion: ({ day, partner, usdt, held, processing }: Conclusion) =>
    `По данным Kopeck на конец дня ${day} задолженность Kopeck перед партнёром «${partner}» составляет ${usdt} USDT${
      processing === 0
        ? '.'
        : `, в том числе зарезервировано по незавершённым платежам: ${held} USDT (платежей: ${processing}).`
    }`,
  fromService: 'От Kopeck',
  fromPartner: (partner: string) => `От партнёра «${partner}»`,
  signature: '____________________   ____________________   ____________________',
  signatureHint: 'должность, подпись, расшифровка подписи, М. П.',
};

const en: typeof ru = {
  title: 'Reconciliation act',
  period: (from, to) => `for the period from ${from} to ${to}`,
  between: (partner, id) => `between the service Kopeck and the partner “${partner}” (${id})`,
  testMode: 'Test mode: no real money.',
  preliminary: at => `Preliminary: the period is not over, as of ${at}.`,
  lead: timeZone =>
    `Accounts are settled in USDT. Days are those of the time zone ${timeZone}. A payment counts on the day when its debit became final, a refund or a top-up on the day when it was credited.`,
  date: 'Date',
  content: 'Content',
  count: 'Count',
  rub: 'Amount, RUB',
  debit: 'Kopeck: debit, USDT',
  credit: 'Kopeck: credit, USDT',
  theirDebit: 'Partner: debit, USDT',
  theirCredit: 'Partner: credit, USDT',
  movements: {
    succeeded: 'Succeeded payments',
    refund: 'Refunds from recipients',
    credit: 'Top-ups of the balance',
    grant: 'Test top-ups',
  },
  opening: 'Opening balance',
  turnover: 'Turnover of the period',
  closing: 'Closing balance',
  conclusion: ({ day, partner, usdt, held, processing }) =>
    `According to Kopeck, at the end of ${day} Kopeck owes the partner “${partner}” ${usdt} USDT${
      processing === 0 ? '.' : `, of which ${held} USDT are on hold for unfinished payments (${processing}).`
    }`,
  fromService: 'For Kopeck',
  fromPartner: partner => `For the partner “${partner}”`,
  signature: '____________________   ____________________   ____________________',
  signatureHint: 'position, signature, name, seal',
};

export type ActTexts = typeof ru;
export const actTexts: Record<ReportLanguage, ActTexts> = { ru, en };
