import { readXlsx } from 'hucre/xlsx';
import { extractText } from 'unpdf';
import { describe, expect, test } from 'vitest';
import { reportFormats } from '../../src/reports/index.ts';
import { accountNumber } from '../../src/reports/one-c.ts';
import { cellsOf, createReportWorld } from './world.ts';

/** October of 2025 in Moscow: from 30 September, 21:00 UTC, on. */
const world = await createReportWorld('2025-09-20T09:00:00Z');
const { partnerId, file, finish } = world;
const injected = '=HYPERLINK("http://x")';
await world.topUp('2025-09-20T09:00:00Z', 101_621_622n, 'deposit:tron:f00d:0');
await world.pay('2025-09-25T09:00:00Z', 'succeeded', {
  externalId: 'z'.repeat(128),
  recipient: `\u0007${'я'.repeat(300)}`,
});
const first = await world.pay('2025-09-30T21:30:00Z', 'succeeded', {
  externalId: 'order-1',
  recipient: 'Кофе',
});
await world.pay('2025-10-10T09:00:00Z', 'succeeded', { externalId: injected, recipient: 'a\tb\r\nc;"d" 😀' });
const failed = await world.pay('2025-10-12T09:00:00Z', 'failed', { externalId: '+79990001122' });
await world.pay('2025-10-13T09:00:00Z', 'rejected', { externalId: 'order-rejected' });
await world.refund('2025-10-15T09:00:00Z', first, 5_000);
await world.topUp('2025-10-20T09:00:00Z', 25_000_000n, 'support-7');
await world.until('2025-10-31T20:59:58Z');
const held = await world.open({ externalId: 'order-held', recipient: 'x'.repeat(300) });
const undone = await world.open({ externalId: 'order-undone' });
await world.until('2025-10-31T21:00:01Z');
await finish(undone, 'rejected');
await world.pay('2025-10-31T21:30:00Z', 'succeeded', {
  externalId: 'order-next',
  recipient: 'a\ufffeb\uffffc _x0041_',
});
await world.until('2025-11-02T09:00:00Z');

const october = ['2025-10-01', '2025-10-31'] as const;
const filesOf = async () => Promise.all(reportFormats.map(format => file(...october, format)));
const before = await filesOf();
const csvOf = async (...args: Parameters<typeof file>) =>
  cellsOf((await file(...args)).toString('utf8').slice(1));

const micro = (cell: string) => BigInt(cell.replace(',', '') || '0');
const sum = (cells: string[]) => cells.reduce((total, cell) => total + micro(cell), 0n);

describe('the CSV file', () => {
  test('has what Excel needs, and a row for each movement by the clocks of Moscow', async () => {
    const bytes = await file(...october, 'csv');
    expect(bytes.toString('utf8').startsWith('\ufeffДата и время;Операция;Статус;Номер заказа;')).toBe(true);
    const [, opening, ...rest] = await csvOf(...october, 'csv');
    expect(opening).toEqual(['', 'Остаток на начало', ...Array(8).fill(''), '0,000000', '100,000000', '']);
    const rows = rest.slice(0, 7);
    const text = (row: string[]) => row.join('|');
    expect(rows.map(text)).toEqual([
      `01.10.2025 00:30:00|Платёж|Оплачен|order-1|${first}|Кофе|150,00|92,5000|1,621622|||98,378378|`,
      expect.stringMatching(
        /^10\.10\.2025 12:00:00\|Платёж\|Оплачен\|'=HYPERLINK\("http:\/\/x"\)\|pay_\w+\|a b {2}c;"d" 😀\|/,
      ),
      `12.10.2025 12:00:00|Платёж|Не прошёл|'+79990001122|${failed}|r|150,00|92,5000||||96,756756|`,
      `15.10.2025 12:00:00|Возврат|Зачислено|order-1|${first}|Кофе|50,00|92,5000||0,540540||97,297296|refund:rfd 2025-10-15T09:00:00Z`,
      '20.10.2025 12:00:00|Пополнение|Зачислено|||||||25,000000||122,297296|support-7',
      expect.stringContaining(`31.10.2025 23:59:58|Платёж|В обработке|order-held|${held}|xxx`),
      expect.stringContaining(`31.10.2025 23:59:58|Платёж|В обработке|order-undone|${undone}|`),
    ]);
    expect(rest[7]).toEqual(['', 'Остаток на конец', ...Array(8).fill(''), '3,243244', '122,297296', '']);
  });

  test('adds up: opening, debits and credits are the closing balance, and the totals those of the rows', async () => {
    const lines = (await csvOf(...october, 'csv')).slice(1);
    const closing = lines.findIndex(([, operation]) => operation === 'Остаток на конец');
    const rows = lines.slice(1, closing);
    const column = (index: number) => sum(rows.map(row => row[index]!));
    expect(micro(lines[0]![11]!) - column(8) + column(9)).toBe(micro(lines[closing]![11]!));
    expect(column(10)).toBe(micro(lines[closing]![10]!));
    const totals = lines.filter(([, operation]) => operation!.startsWith('Итого'));
    expect(sum(totals.map(total => total[8]!))).toBe(column(8));
    expect(sum(totals.map(total => total[9]!))).toBe(column(9));
    expect(totals.map(total => [total[2], total[6], total[12]].join('|'))).toEqual([
      'Оплачен|300,00|Количество: 2',
      'Не прошёл|150,00|Количество: 1',
      'Отклонённый запрос|0,00|Количество: 0',
      'В обработке|300,00|Количество: 2',
      'Зачислено|50,00|Количество: 1',
      'Зачислено||Количество: 1',
      'Зачислено||Количество: 0',
    ]);
  });

  test('a month begins and ends by the zone: a payment at 21:30 UTC of its last day is in the next one', async () => {
    const orders = async (days: readonly [string, string], timeZone: string) =>
      (await csvOf(...days, 'csv', { timeZone })).map(([, , status, order]) => `${status} ${order}`);
    expect(await orders(october, 'Europe/Moscow')).not.toContain('Оплачен order-next');
    expect(await orders(['2025-11-01', '2025-11-01'], 'Europe/Moscow')).toContain('Оплачен order-next');
    expect(await orders(october, 'UTC')).toContain('Оплачен order-next');
    expect(await orders(october, 'UTC')).not.toContain('Оплачен order-1');
  });

  test('days and months chain: what one ends with is what the next begins with', async () => {
    const balances = async (from: string, to: string) => {
      const { opening, closing } = await world.report(from, to);
      return { opening, closing };
    };
    const { closing } = await balances(...october);
    expect((await balances('2025-11-01', '2025-11-01')).opening).toEqual(closing);
    expect((await balances('2025-10-01', '2025-10-12')).closing).toEqual(
      (await balances('2025-10-13', '2025-10-31')).opening,
    );
  });

  test('a rejected attempt is a row only where the period before ended with it', async () => {
    const rows = await csvOf('2025-11-01', '2025-11-01', 'csv');
    const statuses = rows.filter(row => row[4]?.startsWith('pay_')).map(row => `${row[2]} ${row[3]}`);
    expect(statuses).toEqual([
      'Отклонённый запрос order-undone',
      'Оплачен order-next',
      'В обработке order-held',
    ]);
  });
});

test('the workbook has dates, numbers and texts, a header that stays, and no formula', async () => {
  const bytes = await file(...october, 'xlsx');
  const { sheets } = await readXlsx(bytes);
  const [header, opening, paid, formula] = sheets[0]!.rows;
  expect(header!.slice(0, 4)).toEqual(['Дата и время', 'Операция', 'Статус', 'Номер заказа']);
  expect(opening![11]).toBe(100);
  expect(paid![0]).toEqual(new Date('2025-10-01T00:30:00Z'));
  expect(paid!.slice(6, 9)).toEqual([150, 92.5, 1.621622]);
  expect(formula![3]).toBe(injected);
  expect(sheets[0]!.freezePane).toMatchObject({ rows: 1 });
  const english = await readXlsx(await file(...october, 'xlsx', { language: 'en' }));
  expect(english.sheets[0]!.rows[0]!.slice(0, 2)).toEqual(['Date and time', 'Operation']);
  // Excel opens no file with a character that XML does not have, and reads `_x0041_` as A.
  const november = await readXlsx(await file('2025-11-01', '2025-11-02', 'xlsx'));
  expect(november.sheets[0]!.rows.find(row => row[3] === 'order-next')![5]).toBe('a b c _x0041_');
});

describe('the file for 1C', () => {
  const read = async (days: readonly [string, string] = october) =>
    new TextDecoder('windows-1251').decode(await file(...days, '1c'));
  /** The documents, as fields by their names. */
  const documentsOf = (text: string) =>
    Array.from(
      text.matchAll(/СекцияДокумент=.*\r\n([\s\S]*?)КонецДокумента\r\n/g),
      ([, fields]): Record<string, string> =>
        Object.fromEntries(
          fields!
            .trimEnd()
            .split('\r\n')
            .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
        ),
    );

  test('begins with its version, encoding and account, and ends as the format says', async () => {
    const account = accountNumber({ partnerId, mode: 'live' });
    expect(account).toMatch(/^00000810\d{12}$/);
    expect((await read()).split('\r\n').slice(0, 21)).toEqual([
      '1CClientBankExchange',
      'ВерсияФормата=1.03',
      'Кодировка=Windows',
      'Отправитель=Kopeck',
      'Получатель=',
      'ДатаСоздания=01.11.2025',
      'ВремяСоздания=00:00:00',
      'ДатаНачала=01.10.2025',
      'ДатаКонца=31.10.2025',
      `РасчСчет=${account}`,
      'СекцияРасчСчет',
      'ДатаНачала=01.10.2025',
      'ДатаКонца=31.10.2025',
      `РасчСчет=${account}`,
      'НачальныйОстаток=0.00',
      'ВсегоПоступило=350.00',
      'ВсегоСписано=350.00',
      'КонечныйОстаток=0.00',
      'КонецРасчСчет',
      'СекцияДокумент=Банковский ордер',
      'Номер=5',
    ]);
    expect((await read()).endsWith('КонецДокумента\r\nКонецФайла\r\n')).toBe(true);
  });

  test('has a document for each payment and refund and one that covers each day, and they add up', async () => {
    const account = accountNumber({ partnerId, mode: 'live' });
    const documents = documentsOf(await read());
    const isDebit = (one: (typeof documents)[number]) => one.ПлательщикСчет === account;
    expect(
      documents.map(
        one => `${one.Дата} ${isDebit(one) ? '-' : '+'}${one.Сумма} ${one.НазначениеПлатежа!.slice(0, 30)}`,
      ),
    ).toEqual([
      '01.10.2025 -150.00 Оплата по QR-коду СБП, платёж ',
      '01.10.2025 +150.00 Покрытие платежей за 01.10.202',
      '10.10.2025 -150.00 Оплата по QR-коду СБП, платёж ',
      '10.10.2025 +150.00 Покрытие платежей за 10.10.202',
      '15.10.2025 +50.00 Возврат оплаты по QR-коду СБП,',
      '15.10.2025 -50.00 Возвраты за 15.10.2025: зачисл',
    ]);
    for (const one of documents) {
      expect(one[isDebit(one) ? 'ДатаСписано' : 'ДатаПоступило']).toBe(one.Дата);
      expect(one.НазначениеПлатежа!.length).toBeLessThanOrEqual(210);
    }
    const [paid, covered, injectedOne] = documents;
    expect(paid).toMatchObject({ Плательщик: 'Ромашка', Получатель: 'Кофе', ПолучательСчет: '' });
    expect(paid!.НазначениеПлатежа).toBe(
      `Оплата по QR-коду СБП, платёж ${first}, 1.621622 USDT по курсу 92.5000, заказ order-1`,
    );
    expect(covered!.НазначениеПлатежа).toBe(
      'Покрытие платежей за 01.10.2025: списано с баланса 1.621622 USDT',
    );
    const [long] = documentsOf(await read(['2025-09-25', '2025-09-25']));
    expect(long!.Получатель).toBe(` ${'я'.repeat(159)}`);
    expect(long!.НазначениеПлатежа).toMatch(/, заказ z{100,127}$/);
    // A line break in a name adds no line, and what the encoding does not have is a question mark.
    expect(injectedOne!.Получатель).toBe('a b  c;"d" ?');
  });
});

test('the act has the sums of each day, the balances, what is owed, and where to sign', async () => {
  const textOf = async (bytes: Uint8Array) =>
    (await extractText(new Uint8Array(bytes), { mergePages: true })).text.replaceAll(/[\s\u00a0]+/g, ' ');
  const russian = await textOf(await file(...october, 'pdf'));
  for (const part of [
    'Акт сверки взаимных расчётов',
    'за период с 01.10.2025 по 31.10.2025',
    'Europe/Moscow',
    '01.10.2025 Оплаченные платежи 1 150,00 1,621622',
    '15.10.2025 Возвраты от получателей 1 50,00 0,540540',
    '20.10.2025 Пополнения баланса 1 25,000000',
    'Сальдо на начало 100,000000',
    'Обороты за период 3,243244 25,540540',
    'Сальдо на конец 122,297296',
    'задолженность Kopeck перед партнёром «Ромашка» составляет 122,297296 USDT, в том числе зарезервировано по незавершённым платежам: 3,243244 USDT (платежей: 2)',
    'От партнёра «Ромашка»',
  ])
    expect(russian).toContain(part);
  expect(russian).not.toContain('Предварительный');
  const english = await textOf(await file(...october, 'pdf', { language: 'en' }));
  expect(english).toContain('Kopeck owes the partner “Ромашка” 122.297296 USDT');
  expect(await textOf(await file('2025-11-02', '2025-11-02', 'pdf'))).toContain('Предварительный');
});

test('a month that is over keeps its files byte for byte, whatever fails or is refunded later', async () => {
  await world.until('2025-11-03T09:00:00Z');
  await finish(held, 'failed');
  await world.refund('2025-11-04T09:00:00Z', first, 10_000);
  const after = await filesOf();
  for (const [index, format] of reportFormats.entries())
    expect(after[index]!.equals(before[index]!), format).toBe(true);
  const rows = await csvOf('2025-11-02', '2025-11-04', 'csv');
  expect(rows.filter(row => row[4]?.startsWith('pay_')).map(row => `${row[2]} ${row[4]}`)).toEqual([
    `Не прошёл ${held}`,
    `Зачислено ${first}`,
  ]);
});

test('a ledger that does not add up gives no whole file', async () => {
  await world.pool.query('ALTER TABLE entries DISABLE TRIGGER USER');
  await world.pool.query(
    `UPDATE entries SET micro_usdt = micro_usdt + 1 WHERE mode = 'live' AND entry_no = 5`,
  );
  await expect(file(...october, 'csv')).rejects.toThrow('entry 5 does not lead to the balances that it has');
});
