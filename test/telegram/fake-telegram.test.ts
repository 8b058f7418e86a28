import { Api, InlineKeyboard, InputFile } from 'grammy';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTelegram, type Telegram } from './index.ts';
import type { PrivateUser } from './user.ts';

let telegram: Telegram;
let api: Api;
let user: PrivateUser;
let id: number;

beforeEach(async () => {
  telegram = await startTelegram();
  api = new Api(telegram.token, { apiRoot: telegram.root });
  user = telegram.user({ firstName: 'Anna' });
  id = user.account.id;
});
afterEach(() => telegram.close());

const buttons = (...data: string[]) => new InlineKeyboard([data.map(one => InlineKeyboard.text('a', one))]);

it.each<[string, object, string]>([
  ['sendMessage', { text: 'a < b', parse_mode: 'HTML' }, "can't parse entities"],
  ['sendMessage', { text: '<b>a', parse_mode: 'HTML' }, "can't parse entities"],
  ['sendMessage', { text: '<b><i>a</b></i>', parse_mode: 'HTML' }, "can't parse entities"],
  ['sendMessage', { text: '<table>', parse_mode: 'HTML' }, "can't parse entities"],
  ['sendMessage', { text: 'fish & chips', parse_mode: 'HTML' }, "can't parse entities"],
  ['sendMessage', { text: '<b> </b>', parse_mode: 'HTML' }, 'message text is empty'],
  ['sendMessage', { text: 'a'.repeat(4097) }, 'message is too long'],
  ['sendMessage', { text: 5 }, '/text must be string'],
  ['sendMessage', {}, 'must have required properties text'],
  ['sendMessage', { text: 'a', disable_web_page_preview: true }, 'disable_web_page_preview'],
  ['sendMessage', { text: 'a', reply_markup: { inline_keyboard: [{ text: 'a' }] } }, 'must be array'],
  ['sendMessage', { text: 'a', reply_markup: { inline_keyboard: [[{ text: 'a' }]] } }, 'Text buttons'],
  ['sendMessage', { text: 'a', reply_markup: buttons('ы'.repeat(33)) }, 'BUTTON_DATA_INVALID'],
  ['sendMessage', { text: 'a', reply_markup: buttons('') }, 'BUTTON_DATA_INVALID'],
  ['sendMessage', { text: 'a', reply_markup: buttons(...'123456789') }, 'BUTTON_ROW_TOO_LONG'],
  ['sendMessage', { text: 'a', reply_markup: new InlineKeyboard().url('a', 'pay') }, 'BUTTON_URL_INVALID'],
  ['answerCallbackQuery', { callback_query_id: '1', text: 'a'.repeat(201) }, 'more than 200 characters'],
  ['sendPhoto', { photo: 'unknown' }, 'wrong file identifier'],
  ['sendPhoto', { photo: new InputFile(Buffer.from('no picture')) }, 'IMAGE_PROCESS_FAILED'],
  ['sendSticker', { sticker: 'unknown' }, 'Not Found'],
])('refuses and notes a wrong %s %o', async (method, parameters, why) => {
  await user.send('/start');
  const chat = method === 'answerCallbackQuery' ? {} : { chat_id: id };
  const call = api.raw[method as 'sendMessage']({ ...chat, ...parameters } as never);
  await expect(call).rejects.toThrow(why);
  expect(telegram.violations).toHaveLength(1);
});

it('refuses what the state of a chat does not allow, without a violation', async () => {
  await expect(api.sendMessage(id, 'too early')).rejects.toThrow('400: Bad Request: chat not found');
  await user.send('hello');
  const own = user.messages[0]!.id;
  await expect(api.editMessageText(id, own, 'mine now')).rejects.toThrow("message can't be edited");
  const { message_id } = await api.sendMessage(id, 'text');
  await expect(api.editMessageText(id, message_id, 'text')).rejects.toThrow('message is not modified');
  await api.deleteMessage(id, message_id);
  await expect(api.deleteMessage(id, message_id)).rejects.toThrow('message to delete not found');
  await expect(api.editMessageText(id, message_id, 'more')).rejects.toThrow('message to edit not found');
  user.block();
  await expect(api.sendMessage(id, 'text')).rejects.toThrow('403: Forbidden: bot was blocked by the user');
  expect(telegram.violations).toEqual([]);
  const outsider = new Api('1:wrong', { apiRoot: telegram.root });
  await expect(outsider.getMe()).rejects.toThrow('401: Unauthorized');
});

it('repeats an update until it is confirmed, and ends the older of two polls', async () => {
  const elder = expect(api.getUpdates({ timeout: 5 })).rejects.toThrow('409: Conflict: terminated by other');
  await expect.poll(() => telegram.calls.length).toBe(1);
  const younger = api.getUpdates({ timeout: 5 });
  await elder;
  await user.send('one');
  const [first] = await younger;
  expect(await api.getUpdates()).toEqual([first]);
  expect(await api.getUpdates({ offset: first!.update_id + 1 })).toEqual([]);
  await api.getUpdates({ allowed_updates: ['callback_query'] });
  await user.send('two');
  expect(await api.getUpdates()).toEqual([]);
});
