import { Api } from 'grammy';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { createAlarms } from '../../src/alarms/index.ts';
import { upsertUser } from '../../src/bot/conversation/users.ts';
import { fanOutNotices } from '../../src/bot/notices/fan-out.ts';
import { monitor } from '../../src/bot/notices/monitor.ts';
import { addJob, type Queue, type Task } from '../../src/bot/notices/outbox.ts';
import { sendDueJobs } from '../../src/bot/notices/sender.ts';
import { writeNotice } from '../../src/db/notices/index.ts';
import { acceptInvitation, invite, removeMember, signUp } from '../../src/partners/index.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { startTelegram } from '../telegram/index.ts';

const { pool, sql, clock } = await createTimedDatabase();
const telegram = await startTelegram();
const api = new Api(telegram.token, { apiRoot: telegram.root });
const hourMs = 3_600_000;
const staffChat = -1_002_000_000_777;

afterAll(telegram.close);
beforeEach(() => pool.query('DELETE FROM chat_jobs'));
afterEach(() => expect(telegram.violations).toEqual([]));

interface Work {
  queue?: Queue;
  through?: Api;
  /** Null: no staff chat is set. */
  staff?: number | null;
}

async function work({ queue = 'messages', through = api, staff = staffChat }: Work = {}) {
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const publicUrl = 'https://pay.example.com';
  const deps = { pool, clock, log, publicUrl, supportUrl: undefined, telegramStaffChat: staff ?? undefined };
  await sendDueJobs({ ...deps, telegramStaffLanguage: 'en' }, through, queue, new AbortController().signal);
}

async function waiting(): Promise<{ chatId: bigint | null; do: string; inMs: number }[]> {
  const rows = await sql`SELECT chat_id AS "chatId", task->>'do' AS "do", due_at FROM chat_jobs ORDER BY id`;
  return rows.map(({ due_at, ...job }) => ({ ...job, inMs: due_at.getTime() - clock.nowMs() }));
}

/** A user who owns a partner and to whom the bot may write. */
async function someone(firstName: string) {
  const user = telegram.user({ firstName, languageCode: 'en' });
  const userId = BigInt(user.account.id);
  await user.send('/start');
  await upsertUser(pool, clock, userId, 'en');
  const audit = { pool, clock, actor: 'test' };
  const signed = await signUp(audit, { userId, name: firstName }, `Partner of ${firstName}`);
  if (signed.outcome !== 'signed_up') throw new Error(signed.outcome);
  return { user, userId, audit, partnerId: signed.partner.partnerId };
}

const notice: Task = {
  do: 'notify',
  kind: 'sending_suspended',
  partnerId: null,
  partner: null,
  details: {},
  count: 1,
};
const alarm: Task = { do: 'alarm', alarmId: 1, kind: 'payment_overdue', subject: 'x', detail: 'Old.' };

test('a deletion in a chat that blocked the bot is done after it is unblocked', async () => {
  const { user, userId } = await someone('Blocker');
  const { message_id } = await api.sendMessage(user.account.id, 'a secret');
  await addJob(pool, clock, userId, { do: 'delete', messageId: message_id });
  await addJob(pool, clock, userId, notice);
  user.block();
  await work();
  expect(await waiting()).toEqual([{ chatId: userId, do: 'delete', inMs: 0 }]);
  await work({ queue: 'deletes' });
  expect(await waiting()).toEqual([{ chatId: userId, do: 'delete', inMs: hourMs }]);
  user.unblock();
  clock.advance(hourMs);
  await work({ queue: 'deletes' });
  expect(user.messages.find(({ id }) => id === message_id)?.isDeleted).toBe(true);
  expect(await waiting()).toEqual([]);
});

test('a deletion does not wait behind messages, neither a flood nor postponed ones of its chat', async () => {
  const { user, userId } = await someone('Flooded');
  for (let n = 0; n < 60; n++) await addJob(pool, clock, userId, notice);
  const secrets = [1, 2].map(async dueInMs => {
    const { message_id } = await api.sendMessage(user.account.id, 'a secret');
    await addJob(pool, clock, userId, { do: 'delete', messageId: message_id }, dueInMs);
    return message_id;
  });
  const [first, second] = await Promise.all(secrets);
  const isDeleted = (wanted: number | undefined) => user.messages.find(({ id }) => id === wanted)?.isDeleted;
  clock.advance(1);
  await work({ queue: 'deletes' });
  expect([isDeleted(first), isDeleted(second)]).toEqual([true, false]);
  clock.advance(1);
  telegram.fail({ kind: 'tooManyRequests', retryAfter: 200 }, { method: 'sendMessage' });
  await work();
  await work({ queue: 'deletes' });
  expect(isDeleted(second)).toBe(true);
  expect((await waiting()).map(({ do: what, inMs }) => [what, inMs])).toEqual(
    Array.from({ length: 60 }, () => ['notify', 200_000]),
  );
});

test('without a staff chat nothing is marked as sent, and all is sent when there is one', async () => {
  const { partnerId } = await someone('Early');
  const log = { warn: () => {} };
  await createAlarms({ db: pool, clock, log }).raise({ kind: 'early', subject: 's', detail: 'd' });
  const deps = { pool, clock, rateMaxAgeSec: 300 };
  await monitor({ ...deps, telegramStaffChat: undefined });
  expect(await waiting()).toEqual([]);
  await monitor({ ...deps, telegramStaffChat: staffChat });
  const rows = await sql`SELECT task FROM chat_jobs`;
  const tasks = rows.map(({ task }) => task);
  expect(tasks).toContainEqual(expect.objectContaining({ do: 'alarm', kind: 'early' }));
  expect(tasks).toContainEqual(expect.objectContaining({ do: 'approval', partnerId }));
});

test('staff messages wait until the staff chat exists, is open and has the right id', async () => {
  const group = telegram.group({ id: staffChat, title: 'Staff' });
  const operator = group.join({ firstName: 'Olga' });
  await addJob(pool, clock, null, alarm);
  await addJob(pool, clock, null, { do: 'approval', partnerId: 'prt_x', name: 'Waiting' });
  const nextTry = async () => clock.advance(Math.max(...(await waiting()).map(({ inMs }) => inMs)));
  await work({ staff: null });
  await nextTry();
  // Telegram does not find this chat, and answers 400 to every message.
  await work({ staff: -1_009_999_999_999 });
  await nextTry();
  group.removeBot();
  await work();
  expect((await waiting()).every(({ inMs }) => inMs > 0)).toBe(true);
  await nextTry();
  expect((await waiting()).map(job => job.do)).toEqual(['alarm', 'approval']);
  // An alarm is dropped after days; an approval request is not.
  clock.advance(4 * 24 * hourMs);
  group.chatState.forbidden = undefined;
  await work();
  expect(await waiting()).toEqual([]);
  await operator.reads(/Waiting signed up/);
  expect(operator.messages).toHaveLength(1);
});

test('one message that the staff chat refuses does not hold up those behind it', async () => {
  const chat = staffChat - 1;
  const operator = telegram.group({ id: chat, title: 'Staff' }).join({ firstName: 'Olga' });
  await addJob(pool, clock, null, { ...alarm, subject: 'too long '.repeat(1_000) });
  await addJob(pool, clock, null, { ...alarm, detail: 'Behind it.' });
  await work({ staff: chat });
  await operator.reads(/Behind it/);
  expect(telegram.violations.splice(0)).toEqual([expect.stringContaining('message is too long')]);
  expect(await waiting()).toEqual([{ chatId: null, do: 'alarm', inMs: 1_000 }]);
});

test('a removed member does not get messages that waited', async () => {
  const { user, userId, audit, partnerId } = await someone('Stays');
  const leaving = telegram.user({ firstName: 'Leaves', languageCode: 'en' });
  const leavingId = BigInt(leaving.account.id);
  await leaving.send('/start');
  await upsertUser(pool, clock, leavingId, 'en');
  const token = await invite(audit, partnerId, userId, 'viewer');
  await acceptInvitation(audit, token, { userId: leavingId, name: 'Leaves' });
  await writeNotice(pool, clock, partnerId, 'sending_suspended');
  await fanOutNotices(pool, clock);
  expect((await waiting()).map(({ chatId }) => chatId)).toContain(leavingId);
  await removeMember(audit, partnerId, leavingId);
  await work();
  await user.reads(/Webhooks are suspended/);
  expect(leaving.messages.filter(({ from }) => from.is_bot)).toEqual([]);
  expect(await waiting()).toEqual([]);
});

test('two processes that fan out at once send one message', async () => {
  const { userId, partnerId } = await someone('Once');
  for (let round = 0; round < 10; round++) {
    for (let n = 0; n < 20; n++)
      await writeNotice(pool, clock, partnerId, 'delivery_failed', { event_id: n });
    await Promise.all([1, 2, 3, 4].map(() => fanOutNotices(pool, clock)));
    expect(
      await sql`DELETE FROM chat_jobs WHERE chat_id = ${userId} AND task->>'kind' = 'delivery_failed' RETURNING task->'count' AS count`,
    ).toEqual([{ count: 20 }]);
    clock.advance(60_001);
  }
});

test('401, 404 and 5xx keep a job; 400 drops it', async () => {
  const { user, userId } = await someone('Lasting');
  const kept = async (through: Api) => {
    await addJob(pool, clock, userId, notice);
    await work({ through });
    const { length } = await waiting();
    await pool.query('DELETE FROM chat_jobs');
    return length;
  };
  expect(await kept(new Api('1:wrong', { apiRoot: telegram.root }))).toBe(1);
  expect(await kept(new Api(telegram.token, { apiRoot: `${telegram.root}/elsewhere` }))).toBe(1);
  telegram.fail({ kind: 'serverError', status: 500 });
  expect(await kept(api)).toBe(1);
  expect(await kept(api)).toBe(0);
  await user.reads(/are suspended/);
  const { message_id } = await api.sendMessage(user.account.id, 'gone');
  await api.deleteMessage(user.account.id, message_id);
  await addJob(pool, clock, userId, { do: 'delete', messageId: message_id });
  await work({ queue: 'deletes' });
  expect(await waiting()).toEqual([]);
});
