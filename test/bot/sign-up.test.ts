import { expect, test } from 'vitest';
import { setLimits } from '../../src/partners/index.ts';
import { issueKey, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { dialogueToSvg } from '../telegram/index.ts';
import type { Screen } from '../telegram/user.ts';
import { createBotWorld } from './setup.ts';

const { pool, sql, telegram, audit, ownerOf } = await createBotWorld();
const { address } = await startApi({ pool });
await setRate(pool);

const keyIn = (text: string) => /svc_(?:test|live)_[0-9a-f]{12}_[0-9a-f]{48}/.exec(text)![0];

test('from /start to a first test payment, in Russian', async () => {
  const anna = telegram.user({ firstName: 'Анна', languageCode: 'ru' });
  await anna.writes('/start', /Выберите язык:\nChoose a language:/);
  await anna.goes(['🇷🇺 Русский', /первый тестовый платёж/], ['🚀 Регистрация', /Как называется/]);
  await anna.writes('Чайная <№1> & Ко', /Чайная <№1> & Ко — регистрация завершена/);
  const { text, message } = await anna.goes(['🔑 Создать тестовый ключ', /svc_test_/]);
  await anna.reads(/https:\/\/pay\.example\.com\/v1\/payments/);
  const payment = await partnerAt(address, keyIn(text)).pay({ qr_url: newLink(30_510) });
  expect(payment.json).toMatchObject({ status: 'succeeded', mode: 'test' });
  await anna.press('🙈 Скрыть сейчас');
  await expect.poll(() => message.isDeleted).toBe(true);
});

test('the same in English, with a double click that creates one key', async () => {
  const john = telegram.user({ firstName: 'John', languageCode: 'en' });
  await john.writes('/start', /Choose a language/);
  await john.goes(['🇬🇧 English', /Sign up/], ['🚀 Sign up', /What is the name of your company/]);
  const { message } = await john.writes('Tea', /Tea is signed up/);
  const presses = [
    await john.pressOn(message, '🔑 Create a test key'),
    await john.pressOn(message, '🔑 Create a test key'),
  ];
  await john.reads(/svc_test_/);
  const answers = await Promise.all(presses.map(press => press.answer()));
  expect(answers[1]!.text).toBe('This button was already used or has expired.');
  const rows =
    await sql`SELECT k.mode FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE p.name = 'Tea'`;
  expect(rows).toEqual([{ mode: 'test' }]);
  const actors = await pool.query('SELECT DISTINCT actor FROM audit WHERE actor LIKE $1', [
    `telegram:${john.account.id}`,
  ]);
  expect(actors.rows).toHaveLength(1);
});

test('the picture in the README is the current dialogue', async () => {
  const user = telegram.user({ firstName: 'Maria', languageCode: 'en' });
  await user.writes('/start', /Choose a language/);
  await user.goes(['🇬🇧 English', /Sign up/], ['🚀 Sign up', /What is the name of your company/]);
  await user.writes('Tea & Co', /is signed up/);
  await user.goes(['🔑 Create a test key', /shown only once/]);
  await user.reads(/first test payment/);
  // Keys are random.
  const shown = user.messages.map(message => ({
    ...message,
    text: message.text.replace(/_[0-9a-f]{12}_[0-9a-f]{48}/, `_0123456789ab_${'5ec2e7'.repeat(8)}`),
  }));
  await expect(dialogueToSvg({ ...user, messages: shown })).toMatchFileSnapshot('../../docs/bot.svg');
});

/** Which orders a page shows, by their numbers. */
const ordersOn = ({ buttons }: Screen) =>
  buttons
    .flat()
    .map(caption => /order-(\d+)/.exec(caption)?.[1])
    .filter(number => number !== undefined)
    .map(Number);
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, n) => from - n);

/** Every fourth is declined, and the rest is paid. */
async function payOrders(partnerId: Parameters<typeof setLimits>[1], count: number) {
  await setLimits(audit, partnerId, { createRps: 1_000, createBurst: 1_000 });
  const api = partnerAt(address, await issueKey(pool, partnerId, 'test'));
  for (let n = 1; n <= count; n++)
    await api.pay({ qr_url: newLink(n % 4 === 0 ? 10_001 : 30_510), external_id: `order-${n}` });
  return api;
}

test('older and newer pages, and back from a payment to its page', async () => {
  const { owner, partnerId } = await ownerOf('Pages');
  const api = await payOrders(partnerId, 20);
  const { buttons } = await owner.goes(['🧾 Payments', /no live payments yet/]);
  expect(buttons.flat()).not.toContain('Older ▶️');
  /** Presses a button, and reads the orders from the first to the last. */
  const turn = async (caption: string, title: RegExp, first: number, last: number) => {
    await owner.press(caption);
    expect(ordersOn(await owner.reads(title))).toEqual(down(first, last));
  };
  const [latest, earlier] = [/Latest test payments:/, /and earlier:/];
  await turn('🧪 Test', latest, 20, 13);
  expect(owner.screen().buttons.flat()).not.toContain('◀️ Newer');
  await turn('Older ▶️', earlier, 12, 5);
  // New payments do not shift the pages.
  await api.pay({ qr_url: newLink(30_510), external_id: 'order-21' });
  await turn('Older ▶️', earlier, 4, 1);
  expect(owner.screen().buttons.flat()).not.toContain('Older ▶️');
  await owner.goes(['❌ 100.01 ₽ order-4', /Not paid/]);
  await turn('⬅️ Back', earlier, 4, 1);
  await turn('◀️ Newer', earlier, 12, 5);
  await turn('◀️ Newer', earlier, 20, 13);
  await turn('◀️ Newer', latest, 21, 14);
  await owner.goes(['✅ 305.10 ₽ order-15', /Paid/]);
  await turn('⬅️ Back', latest, 21, 14);
});

test('filtered by status, through all pages, in Russian', async () => {
  const { owner, partnerId } = await ownerOf('Полка', 'ru');
  await payOrders(partnerId, 13);
  const failed = await owner.goes(
    ['🧾 Платежи', /Платежей пока нет \(режим: боевой\)/],
    ['🧪 Тестовые', /Последние платежи/],
    ['❌', /статус: не прошёл/],
  );
  expect(ordersOn(failed)).toEqual([12, 8, 4]);
  expect(failed.buttons.flat()).toContain('· ❌ ·');
  await owner.goes(['⏳', /Платежей пока нет \(режим: тестовый, статус: в обработке\)/]);
  await owner.press('✅');
  expect(ordersOn(await owner.reads(/статус: оплачен/))).toEqual([13, 11, 10, 9, 7, 6, 5, 3]);
  await owner.press('Старее ▶️');
  expect(ordersOn(await owner.reads(/статус: оплачен.*и раньше/))).toEqual([2, 1]);
  await owner.goes(['✅ 305,10 ₽ order-1', /Оплачен\. Статус окончательный/]);
  await owner.press('⬅️ Назад');
  expect(ordersOn(await owner.reads(/статус: оплачен.*и раньше/))).toEqual([1]);
  await owner.press('◀️ Новее');
  expect(ordersOn(await owner.reads(/статус: оплачен/))).toEqual([11, 10, 9, 7, 6, 5, 3, 2]);
  await owner.press('Все');
  expect(ordersOn(await owner.reads(/Последние платежи \(режим: тестовый\)/))).toEqual(down(13, 6));
});

test('a forged page shows nothing of another partner', async () => {
  const { partnerId } = await ownerOf('Rich');
  const { json } = await (await payOrders(partnerId, 2)).get('/v1/payments');
  const { owner, partnerId: poor } = await ownerOf('Poor');
  const { message } = owner.screen();
  for (const action of ['yo', 'yn', 'yb'])
    for (const cursor of [json.data[0].id.slice(4), 'nonsense', '']) {
      await owner.forgeCallback(message, `${action}:${poor.slice(4)}:test:${cursor}:?`);
      await expect.poll(() => telegram.pendingUpdates()).toBe(0);
      expect(owner.screen().text).toBe('There are no test payments yet.');
      expect(ordersOn(owner.screen())).toEqual([]);
    }
});
