import { createHash } from 'node:crypto';
import { createWallClock } from '../base/calendar.ts';
import { formatKopecks, formatMicroUsdt, formatRate } from '../base/money.ts';
import type { Queryable } from '../db/postgres/index.ts';
import type { AccountKey } from '../ledger/index.ts';
import { type Report, type ReportRow, reportRows } from './report.ts';
import { addTo, noTotals, type Totals } from './totals.ts';
import { dayText } from './wanted-period.ts';
import { inWindows1251 } from './windows-1251.ts';

/**
 * The exchange format of 1C with banks, `1CClientBankExchange` 1.03. It knows rubles only, and the balance is in USDT. So the file is
 * the statement of a conventional ruble account: each payment leaves it, each refund arrives on it, and at the end of each day a
 * document of the service covers the payments of the day with the rubles of the USDT that were debited, or takes the rubles of the
 * refunds, which came back as USDT. The account is empty at the end of each day. Top-ups are in USDT and are not in the file.
 */

const service = 'Kopeck';
/** What the format allows. */
const maxPurpose = 210;
const maxName = 160;

type Fields = [name: string, value: string][];
const linesOf = (fields: Fields) => fields.map(([name, value]) => `${name}=${value}\r\n`).join('');

/**
 * The number of that account: 20 digits, as 1C requires, the same in every file of the partner and mode. It begins with zeros, which
 * no account of a bank does; 810 is the ruble.
 */
export const accountNumber = ({ partnerId, mode }: AccountKey): string => {
  const digest = createHash('sha256').update(`${partnerId} ${mode}`).digest();
  return `00000810${`${digest.readBigUInt64BE() % 10n ** 12n}`.padStart(12, '0')}`;
};

export async function* writeOneC(db: Queryable, report: Report): AsyncGenerator<Uint8Array> {
  // The section of the account, with its sums, comes before the documents: so the rows are read twice.
  const expected = await sumUp(db, report);
  yield inWindows1251(head(report, expected));
  const totals = noTotals();
  for await (const documents of documentsOf(db, report, totals)) yield inWindows1251(documents);
  if (
    totals.succeeded.kopecks !== expected.succeeded.kopecks ||
    totals.refund.kopecks !== expected.refund.kopecks
  )
    throw new Error(`the documents of ${report.account.partnerId} are not the sums of their account`);
  yield inWindows1251('КонецФайла\r\n');
}

async function sumUp(db: Queryable, report: Report): Promise<Totals> {
  const totals = noTotals();
  for await (const rows of reportRows(db, report)) for (const row of rows) addTo(totals, row);
  return totals;
}

function head({ account, period, madeAt }: Report, { succeeded, refund }: Totals): string {
  const made = createWallClock(period.timeZone)(madeAt).toISOString();
  const span: Fields = [
    ['ДатаНачала', dayText(period.from)],
    ['ДатаКонца', dayText(period.to)],
    ['РасчСчет', accountNumber(account)],
  ];
  const moved = formatKopecks(succeeded.kopecks + refund.kopecks);
  return `1CClientBankExchange\r\n${linesOf([
    ['ВерсияФормата', '1.03'],
    ['Кодировка', 'Windows'],
    ['Отправитель', service],
    ['Получатель', ''],
    ['ДатаСоздания', dayText(made.slice(0, 10))],
    ['ВремяСоздания', made.slice(11, 19)],
    ...span,
  ])}СекцияРасчСчет\r\n${linesOf([
    ...span,
    ['НачальныйОстаток', '0.00'],
    ['ВсегоПоступило', moved],
    ['ВсегоСписано', moved],
    ['КонечныйОстаток', '0.00'],
  ])}КонецРасчСчет\r\n`;
}

/** The documents of each page of rows; of each day, the covering ones follow after its last row. */
async function* documentsOf(db: Queryable, report: Report, totals: Totals): AsyncGenerator<string> {
  const wallClock = createWallClock(report.period.timeZone);
  let day = '';
  let ofDay = noTotals();
  const cover = () => (day === '' ? '' : coverOf(report, day, ofDay));
  for await (const rows of reportRows(db, report)) {
    let text = '';
    for (const row of rows) {
      if (row.kind !== 'succeeded' && row.kind !== 'refund') continue;
      const rowDay = wallClock(row.at).toISOString().slice(0, 10);
      if (rowDay !== day) {
        text += cover();
        [day, ofDay] = [rowDay, noTotals()];
      }
      text += documentOf(report, day, row);
      addTo(totals, row);
      addTo(ofDay, row);
    }
    if (text !== '') yield text;
  }
  const last = cover();
  if (last !== '') yield last;
}

interface Document {
  number: string;
  day: string;
  kopecks: bigint;
  isDebit: boolean;
  other: string;
  purpose: string;
}

function documentOf(report: Report, day: string, row: ReportRow): string {
  // Only of a month that an operator has taken out of the archive meanwhile.
  if (row.kopecks === null) throw new Error(`entry ${row.entryNo} has no amount in rubles`);
  const usdt = `${formatMicroUsdt(row.microUsdt)} USDT`;
  const rate = row.rateE4 === null ? '' : ` по курсу ${formatRate(row.rateE4)}`;
  const order = row.externalId === null ? '' : `, заказ ${row.externalId}`;
  const isDebit = row.kind === 'succeeded';
  return document(report, {
    number: `${row.entryNo}`,
    day,
    kopecks: row.kopecks,
    isDebit,
    other: row.recipient ?? '',
    purpose: `${isDebit ? 'Оплата по QR-коду СБП' : 'Возврат оплаты по QR-коду СБП'}, платёж ${row.paymentId}, ${usdt}${rate}${order}`,
  });
}

function coverOf(report: Report, day: string, { succeeded, refund }: Totals): string {
  const documents: Document[] = [
    {
      number: `U${day.replaceAll('-', '')}`,
      ...{ day, kopecks: succeeded.kopecks, isDebit: false, other: service },
      purpose: `Покрытие платежей за ${dayText(day)}: списано с баланса ${formatMicroUsdt(succeeded.microUsdt)} USDT`,
    },
    {
      number: `R${day.replaceAll('-', '')}`,
      ...{ day, kopecks: refund.kopecks, isDebit: true, other: service },
      purpose: `Возвраты за ${dayText(day)}: зачислено на баланс ${formatMicroUsdt(refund.microUsdt)} USDT`,
    },
  ];
  return documents
    .filter(({ kopecks }) => kopecks > 0n)
    .map(one => document(report, one))
    .join('');
}

/** A bank order: 1C takes it as it is, and does not look for a payment order of the partner. Recipients have no account here. */
function document(report: Report, { number, day, kopecks, isDebit, other, purpose }: Document): string {
  const own = { name: report.partner, account: accountNumber(report.account) };
  const foreign = { name: other, account: '' };
  const [payer, recipient] = isDebit ? [own, foreign] : [foreign, own];
  const date = dayText(day);
  const mark = report.account.mode === 'test' ? 'ТЕСТОВЫЙ РЕЖИМ. ' : '';
  return `СекцияДокумент=Банковский ордер\r\n${linesOf([
    ['Номер', number],
    ['Дата', date],
    ['Сумма', formatKopecks(kopecks)],
    ['ПлательщикСчет', payer.account],
    ...(isDebit ? ([['ДатаСписано', date]] satisfies Fields) : []),
    ['Плательщик', cut(payer.name, maxName)],
    ['Плательщик1', cut(payer.name, maxName)],
    ['ПолучательСчет', recipient.account],
    ...(isDebit ? [] : ([['ДатаПоступило', date]] satisfies Fields)),
    ['Получатель', cut(recipient.name, maxName)],
    ['Получатель1', cut(recipient.name, maxName)],
    ['НазначениеПлатежа', cut(mark + purpose, maxPurpose)],
  ])}КонецДокумента\r\n`;
}

const cut = (text: string, max: number) => [...text].slice(0, max).join('');
