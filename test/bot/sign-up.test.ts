import { expect, test } from 'vitest';
import { newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { dialogueToSvg } from '../telegram/index.ts';
import { createBotWorld } from './setup.ts';

const { pool, telegram } = await createBotWorld();
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

test('the same in English, with invalid names and a double click that creates one key', async () => {
  const john = telegram.user({ firstName: 'John', languageCode: 'en' });
  await john.writes('/start', /Choose a language/);
  await john.goes(['🇬🇧 English', /Sign up/], ['🚀 Sign up', /What is the name of your company/]);
  await john.writes('two\nlines', /must be one line/);
  await john.writes('x'.repeat(129), /must be one line/);
  const { message } = await john.writes('Tea', /Tea is signed up/);
  const presses = [
    await john.pressOn(message, '🔑 Create a test key'),
    await john.pressOn(message, '🔑 Create a test key'),
  ];
  await john.reads(/svc_test_/);
  const answers = await Promise.all(presses.map(press => press.answer()));
  expect(answers[1]!.text).toBe('This button was already used or has expired.');
  const { rows } = await pool.query(
    `SELECT k.mode FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE p.name = 'Tea'`,
  );
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
