import { Api } from 'grammy';
import { readXlsx } from 'hucre/xlsx';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { upsertUser } from '../../src/bot/conversation/users.ts';
import { fanOutNotices } from '../../src/bot/notices/fan-out.ts';
import { monitor } from '../../src/bot/notices/monitor.ts';
import { sendDueJobs } from '../../src/bot/notices/sender.ts';
import { credit } from '../../src/ledger/index.ts';
import { changeRole, createPartner, type MemberRole, setTimeZone } from '../../src/partners/index.ts';
import { addMember } from '../../src/partners/members.ts';
import { getsMonthlyReport, setMonthlyReport } from '../../src/reports/index.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { startTelegram } from '../telegram/index.ts';

const { pool, sql, clock } = await createTimedDatabase('2026-10-20T09:00:00Z');
const telegram = await startTelegram();
const api = new Api(telegram.token, { apiRoot: telegram.root });
const audit = { pool, clock, actor: 'test' };
afterAll(telegram.close);
afterEach(() => expect(telegram.violations).toEqual([]));

const log = { info: () => {}, warn: () => {}, error: () => {} };
const deps = {
  pool,
  clock,
  log,
  publicUrl: 'https://x',
  supportUrl: undefined,
  telegramStaffChat: undefined,
  telegramStaffLanguage: 'ru' as const,
};
/** One round of the leader. */
async function round(through = api) {
  await monitor({ ...deps, rateMaxAgeSec: 300 });
  await fanOutNotices(pool, clock);
  await sendDueJobs(deps, through, 'messages', new AbortController().signal);
}
const until = (iso: string) => clock.advance(Date.parse(iso) - clock.nowMs());

async function team(...roles: MemberRole[]) {
  const { partnerId } = await createPartner(audit, 'Ромашка');
  const people = [];
  for (const role of roles) {
    const user = telegram.user({ firstName: role, languageCode: 'ru' });
    const userId = BigInt(user.account.id);
    await user.send('/start');
    await upsertUser(pool, clock, userId, 'ru');
    await addMember(pool, audit, partnerId, { userId, name: role }, role);
    people.push({ userId, documents: () => user.messages.filter(({ document }) => document) });
  }
  return { partnerId, people };
}
const ask = (partnerId: Id<'prt'>, isOn = true, timeZone = 'Europe/Moscow') =>
  setMonthlyReport(audit, { partnerId, timeZone }, isOn);

test('owners and accountants get the workbook of the finished month in the morning of the first day, once', async () => {
  const { partnerId, people } = await team('owner', 'developer', 'accountant');
  const [owner, developer, accountant] = people;
  await credit(pool, clock, [{ partnerId, mode: 'live', reference: 'support-1', microUsdt: 1_000_000n }]);
  await ask(partnerId);
  // Nine in the morning of the first of November in Moscow.
  await until('2026-11-01T05:59:59Z');
  await round();
  expect(owner!.documents()).toEqual([]);
  await until('2026-11-01T06:00:00Z');
  await round();
  await round();
  for (const person of [owner!, accountant!]) {
    const [message, ...more] = person.documents();
    expect(more).toEqual([]);
    expect(message!.text).toContain('Отчёт за октябрь 2026');
    const { sheets } = await readXlsx(message!.document!.bytes);
    expect(sheets[0]!.rows.flat()).toContain('support-1');
  }
  expect(developer!.documents()).toEqual([]);
  await until('2026-12-01T06:00:00Z');
  await round();
  expect(owner!.documents().map(({ text }) => text.split('\n')[1])).toEqual([
    '📊 Отчёт за октябрь 2026 г.',
    '📊 Отчёт за ноябрь 2026 г.',
  ]);
});

test('a file that Telegram did not take is sent again later', async () => {
  const { partnerId, people } = await team('owner');
  await ask(partnerId);
  await until('2027-01-01T06:00:00Z');
  const lost = new Api(telegram.token, { apiRoot: 'http://127.0.0.1:9' });
  await round(lost);
  clock.advance(300_000);
  await round();
  expect(people[0]!.documents()).toHaveLength(1);
});

test('who is no owner any more when the file is sent gets none', async () => {
  const { partnerId, people } = await team('owner', 'owner');
  await ask(partnerId);
  await until('2027-02-01T06:00:00Z');
  await monitor({ ...deps, rateMaxAgeSec: 300 });
  await fanOutNotices(pool, clock);
  await changeRole(audit, partnerId, people[1]!.userId, 'viewer');
  await sendDueJobs(deps, api, 'messages', new AbortController().signal);
  expect(people.map(person => person.documents().length)).toEqual([1, 0]);
});

test('a month that is not over in the new time zone is reported when it is', async () => {
  const { partnerId, people } = await team('owner');
  await ask(partnerId);
  await setTimeZone(audit, partnerId, 'Pacific/Honolulu');
  await until('2027-03-01T06:00:00Z');
  await round();
  expect(people[0]!.documents()).toEqual([]);
  await until('2027-03-01T19:00:00Z');
  await round();
  expect(people[0]!.documents()[0]!.text).toContain('февраль 2027');
});

test('what was switched off sends nothing, and a repeat is not on record', async () => {
  const { partnerId, people } = await team('owner');
  for (const isOn of [true, true, false, false]) await ask(partnerId, isOn);
  expect(await getsMonthlyReport(pool, partnerId)).toBe(false);
  await until('2027-04-01T06:00:00Z');
  await round();
  expect(people[0]!.documents()).toEqual([]);
  const rows = await sql`SELECT after FROM audit WHERE action = 'partner.monthly_report' ORDER BY id`;
  expect(rows.slice(-2).map(({ after }) => after)).toEqual([{ is_on: true }, { is_on: false }]);
});
