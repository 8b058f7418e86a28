import { expect, test } from 'vitest';
import { createAlarms, listAlarms } from '../../src/alarms/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { findPartner } from '../../src/partners/index.ts';
import { createBotWorld } from './setup.ts';

const staffChat = -1_002_000_000_777;
const { pool, sql, telegram, ownerOf } = await createBotWorld({ staffChat });
const russian = await createBotWorld({ staffChat, staffLanguage: 'ru' });
const group = telegram.group({ id: staffChat, title: 'Kopeck staff' });
const operator = group.join({ firstName: 'Olga', languageCode: 'en' });

test('a new partner is approved in the staff chat, with an audit record and a notice', async () => {
  const { owner, partnerId } = await ownerOf('Newcomer <1>');
  const { message } = await operator.reads(/Newcomer <1> signed up/);
  const forged = await owner.forgeCallback(owner.screen().message, `approve:${partnerId}`);
  await forged.answer();
  expect((await findPartner(pool, partnerId))!.liveApproved).toBe(false);
  await operator.goes(['Approve', /can now create live keys/]);
  await owner.reads(/Live mode is approved/);
  const again = await operator.pressOn(message, 'Approve');
  expect((await again.answer()).text).toBe('The partner was already approved.');
  expect(await sql`SELECT count(*)::int AS n FROM audit WHERE action = 'partner.approve'`).toEqual([
    { n: 1 },
  ]);
});

test('a refused partner stays in test mode and gets a notice', async () => {
  const { owner, partnerId } = await ownerOf('Doubtful');
  await operator.reads(/Doubtful signed up/);
  await operator.goes(['Reject', /stays in test mode/]);
  await owner.reads(/was not approved/);
  expect((await findPartner(pool, partnerId))!.liveApproved).toBe(false);
});

test('alarms come to the staff chat once, and are cleared there', async () => {
  const alarms = createAlarms({ db: pool, clock: systemClock, log: { warn: () => {} } });
  const alarm = {
    kind: 'payment_overdue',
    subject: 'pay_01m7facwp8e00a61e68hf05xpp',
    detail: 'Two hours <old>.',
  };
  await alarms.raise(alarm);
  await alarms.raise(alarm);
  const { message } = await operator.reads(
    /Payment is overdue\npayment_overdue pay_\w+\nTwo hours <old>\.\nOpen in the console/,
  );
  expect(JSON.stringify(message.entities)).toContain(
    `https://pay.example.com/console/payments/${alarm.subject}`,
  );
  await operator.goes(['Clear', /Alarm cleared/]);
  expect(await listAlarms(pool, { cleared: false })).toEqual([]);
  expect(await sql`SELECT actor FROM audit WHERE action = 'alarm.clear'`).toEqual([
    { actor: `telegram:${operator.account.id}` },
  ]);
});

test('staff that reads Russian gets all of it in Russian, but for the detail of an alarm', async () => {
  const chat = russian.telegram.group({ id: staffChat, title: 'Kopeck' });
  const colleague = chat.join({ firstName: 'Ольга', languageCode: 'ru' });
  await russian.ownerOf('Ромашка');
  await colleague.reads(/Новый партнёр Ромашка \(prt_\w+\) запрашивает боевой режим\.\nОткрыть в консоли/);
  await colleague.goes(['Одобрить', /Ромашка: боевой режим одобрен/]);
  const alarms = createAlarms({ db: russian.pool, clock: systemClock, log: { warn: () => {} } });
  await alarms.raise({ kind: 'rate_jump', subject: 'rate', detail: 'By 12 %.' });
  await colleague.reads(/Резкое изменение курса\nrate_jump rate\nBy 12 %\.\nОткрыть в консоли/);
  await colleague.goes(['Закрыть', /Оповещение закрыто/]);
});

test('menus do not open in a group', async () => {
  await operator.send('/start@kopeck_test_bot');
  await expect.poll(() => telegram.pendingUpdates()).toBe(0);
  expect(operator.messages.filter(({ text }) => /Choose a language/.test(text))).toEqual([]);
});
