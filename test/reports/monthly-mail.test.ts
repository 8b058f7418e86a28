import { readXlsx } from 'hucre/xlsx';
import { afterEach, expect, test } from 'vitest';
import { transaction } from '../../src/db/postgres/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import {
  addReportAddress,
  confirmReportAddress,
  listReportAddresses,
  removeReportAddress,
  setMonthlyReport,
} from '../../src/reports/index.ts';
import { createMailer, type Mailer } from '../../src/reports/monthly/mailer.ts';
import { sendDueMails } from '../../src/reports/monthly/mails.ts';
import { noticeFinishedMonths } from '../../src/reports/monthly/schedule.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { type ReceivedMail, startSmtpServer } from '../helpers/smtp-server.ts';

const { pool, clock } = await createTimedDatabase('2026-10-20T09:00:00Z');
const server = await startSmtpServer();
const mailer = createMailer(server.settings);
const audit = { pool, clock, actor: 'test' };
afterEach(async () => {
  expect(server.violations).toEqual([]);
  server.mails.length = 0;
  await pool.query('DELETE FROM monthly_reports');
});

const logged: string[] = [];
const keep = (_details: object, message: string) => void logged.push(message);
const deps = { pool, clock, log: { warn: keep, error: keep }, webhookRetryScheduleSec: [0, 60, 600] };
/** One round of a worker. */
async function round(through: Mailer = mailer) {
  await transaction(pool, tx => noticeFinishedMonths(tx, clock));
  await sendDueMails(deps, through, new AbortController().signal);
}
/** A text in Russian is sent as Base64. */
const codeIn = ({ raw }: ReceivedMail) => {
  const body = raw.slice(raw.indexOf('\r\n\r\n'));
  const text = raw.includes('Encoding: base64') ? Buffer.from(body, 'base64').toString() : body;
  return /\b\d{8}\b/.exec(text)![0];
};
const nextMonth = () => {
  const now = new Date(clock.nowMs());
  clock.advance(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1, 6) - now.getTime());
};

async function partnerWith(...addresses: string[]) {
  const { partnerId } = await createPartner(audit, 'Ромашка');
  await setMonthlyReport(audit, { partnerId, timeZone: 'Europe/Moscow' }, true);
  for (const address of addresses) {
    expect(await addReportAddress(audit, partnerId, address, 'ru')).toBe('done');
    await round();
    expect(await confirmReportAddress(audit, partnerId, address, codeIn(server.mails.at(-1)!))).toBe('done');
  }
  server.mails.length = 0;
  return partnerId;
}

test('a confirmed address gets the workbook of a finished month, once', async () => {
  await partnerWith('boss@example.com');
  nextMonth();
  await Promise.all([round(), round()]);
  // Longer than a lease.
  clock.advance(600_000);
  await round();
  expect(server.mails.map(({ from, to }) => [from, to])).toEqual([
    ['reports@kopeck.test', 'boss@example.com'],
  ]);
  const { raw } = server.mails[0]!;
  const encoded = raw.split(/\r\n\r\n/).find(part => part.startsWith('UEsDB'))!;
  const { sheets } = await readXlsx(Buffer.from(encoded.split('\r\n--', 1)[0]!, 'base64'));
  expect(sheets[0]!.rows[0]!.slice(0, 2)).toEqual(['Дата и время', 'Операция']);
  expect(raw).toMatch(/filename="?kopeck-prt_\w+-live-2026-10-01_2026-10-31\.xlsx/);
});

test('an address that nobody has confirmed gets its code and nothing else', async () => {
  const partnerId = await partnerWith();
  expect(await addReportAddress(audit, partnerId, 'Foreign@Example.com ', 'en')).toBe('done');
  await round();
  expect(server.mails.map(({ to }) => to)).toEqual(['foreign@example.com']);
  const code = codeIn(server.mails[0]!);
  const confirm = (given: string) => confirmReportAddress(audit, partnerId, 'foreign@example.com', given);
  const wrong = code === '00000000' ? '00000001' : '00000000';
  expect(await confirm(wrong)).toBe('wrong_code');
  nextMonth();
  await round();
  expect(server.mails).toHaveLength(1);
  expect(await confirm(code)).toBe('code_expired');
  expect(await listReportAddresses(pool, partnerId)).toEqual([
    { address: 'foreign@example.com', isConfirmed: false },
  ]);
});

test('after five wrong codes the right one is refused', async () => {
  const partnerId = await partnerWith();
  await addReportAddress(audit, partnerId, 'a@example.com', 'en');
  await round();
  const code = codeIn(server.mails[0]!);
  const confirm = (given: string) => confirmReportAddress(audit, partnerId, 'a@example.com', given);
  for (let nth = 0; nth < 5; nth++) expect(await confirm(`wrong ${nth}`)).toBe('wrong_code');
  expect(await confirm(code)).toBe('code_expired');
});

test('a mail that is refused is sent on the retry schedule, and given up at its end', async () => {
  await partnerWith('a@example.com');
  nextMonth();
  server.answerNext('451 later');
  await round();
  await round();
  expect(server.mails).toEqual([]);
  clock.advance(60_000);
  await round();
  expect(server.mails).toHaveLength(1);

  nextMonth();
  for (const sec of [0, 60, 600]) {
    clock.advance(sec * 1_000);
    server.answerNext('550 no such mailbox');
    await round();
  }
  expect(logged.at(-1)).toBe('a mail was given up');
  expect((await pool.query('SELECT FROM report_mails')).rowCount).toBe(0);
});

test('a mail of a process that died while it sent is sent again when its lease ends', async () => {
  await partnerWith('a@example.com');
  nextMonth();
  const begun = Promise.withResolvers<void>();
  const send = () => {
    begun.resolve();
    return new Promise<void>(() => {});
  };
  const dying: Mailer = { close: () => {}, send };
  void round(dying);
  await begun.promise;
  await round();
  expect(server.mails).toEqual([]);
  clock.advance(600_000);
  await round();
  expect(server.mails).toHaveLength(1);
});

test('a removed address gets nothing, also not what waits for it', async () => {
  const partnerId = await partnerWith('a@example.com');
  nextMonth();
  await transaction(pool, tx => noticeFinishedMonths(tx, clock));
  await removeReportAddress(audit, partnerId, 'a@example.com');
  await round();
  expect(server.mails).toEqual([]);
});

test.each([
  'a@b',
  'a b@example.com',
  'a@example.com,b@example.com',
  'a@example.com\r\nBcc: b@example.com',
  '"a"@example.com',
  'a@example.com>',
  `${'a'.repeat(65)}@example.com`,
  `a@${'b'.repeat(250)}.com`,
])('%j is no address', async address => {
  const partnerId = await partnerWith();
  expect(await addReportAddress(audit, partnerId, address, 'en')).toBe('bad_address');
});

test('a partner has five addresses at most, and adds ten a day', async () => {
  const partnerId = await partnerWith();
  const add = (nth: number) => addReportAddress(audit, partnerId, `a${nth}@example.com`, 'en');
  for (let nth = 0; nth < 5; nth++) expect(await add(nth)).toBe('done');
  expect(await add(0)).toBe('done');
  expect(await add(5)).toBe('too_many');
  for (let nth = 5; nth < 10; nth++) {
    await removeReportAddress(audit, partnerId, `a${nth - 1}@example.com`);
    expect(await add(nth)).toBe('done');
  }
  await removeReportAddress(audit, partnerId, 'a9@example.com');
  expect(await add(10)).toBe('too_many_today');
  await pool.query('DELETE FROM report_mails');
});
