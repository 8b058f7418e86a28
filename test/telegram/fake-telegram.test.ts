import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Api, Bot, type Context, InlineKeyboard, InputFile, webhookCallback } from 'grammy';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { dialogueToSvg, startTelegram, type Telegram } from './index.ts';

const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
);

let telegram: Telegram;
let api: Api;
let stop: () => Promise<void> = async () => {};

beforeEach(async () => {
  telegram = await startTelegram();
  api = new Api(telegram.token, { apiRoot: telegram.root });
});

afterEach(async () => {
  await stop();
  stop = async () => {};
  await telegram.close();
});

function createBot(): Bot {
  const bot = new Bot(telegram.token, { client: { apiRoot: telegram.root } });
  bot.command('start', context =>
    context.reply(`<b>Hello</b>, ${context.match || 'outsider'} &amp; friends`, {
      parse_mode: 'HTML',
      reply_markup: new InlineKeyboard()
        .text('Pay', 'pay')
        .text('Leave', 'leave')
        .row()
        .url('Help', 'https://example.com'),
    }),
  );
  bot.callbackQuery('pay', async context => {
    await context.answerCallbackQuery({ text: 'One moment' });
    await context.editMessageText('Paid');
  });
  bot.callbackQuery('leave', context => context.answerCallbackQuery({ text: 'Bye', show_alert: true }));
  bot.on('message:photo', sizeOfPhoto);
  return bot;
}

async function sizeOfPhoto(context: Context) {
  const { file_path } = await context.getFile();
  const file = await fetch(`${telegram.root}/file/bot${telegram.token}/${file_path}`);
  await context.reply(`${(await file.arrayBuffer()).byteLength} bytes`);
}

function startPolling(): void {
  const bot = createBot();
  const done = bot.start();
  stop = async () => {
    await bot.stop();
    await done;
  };
}

it('holds a dialogue with a bot that polls', async () => {
  startPolling();
  const user = telegram.user({ firstName: 'Anna', languageCode: 'en' });
  await user.send('/start 42');
  const greeting = await user.reads(/^Hello, 42 & friends$/);
  expect(greeting.buttons).toEqual([['Pay', 'Leave'], ['Help']]);
  expect(greeting.message.entities).toEqual([{ type: 'bold', offset: 0, length: 5 }]);
  const press = await user.press('Pay');
  expect(await press.answer()).toEqual({ text: 'One moment', isAlert: false });
  expect(await user.reads(/Paid/)).toMatchObject({ buttons: [], message: greeting.message });
  expect(user.screen().text).toBe('Paid');
  expect(user.messages.map(({ edits }) => edits.length)).toEqual([0, 1]);

  await expect(user.press('Pay')).rejects.toThrow('There is no button "Pay", nor any other');
  await expect(user.reads(/Hello/, 50)).rejects.toThrow('Kopeck #1042 (edited): Paid');
  const late = await user.pressOn(greeting.message, 'Leave');
  expect(await late.answer()).toEqual({ text: 'Bye', isAlert: true });
  expect(telegram.violations).toEqual([]);
});

it('transfers pictures both ways', async () => {
  startPolling();
  const user = telegram.user({ firstName: 'Anna' });
  await user.sendPhoto(dot);
  await user.reads(new RegExp(`^${dot.length} bytes$`));
  await api.sendPhoto(user.account.id, new InputFile(dot, 'dot.png'), {
    caption: '<i>dot</i>',
    parse_mode: 'HTML',
  });
  const { message } = await user.reads(/^dot$/);
  expect(message.photo!.full.bytes).toEqual(dot);
  await api.sendDocument(user.account.id, new InputFile(Buffer.from('a;b'), 'report.csv'));
  expect((await user.reads(screen => screen.message.document?.name === 'report.csv')).text).toBe('');
  expect(telegram.violations).toEqual([]);
});

it('sends updates to a webhook until it answers 2xx', async () => {
  const bot = createBot();
  const handle = webhookCallback(bot, 'http', { secretToken: 'secret' });
  let refusals = 2;
  const server = createServer((request, response) => {
    if (refusals-- > 0) return void response.writeHead(503).end();
    return void handle(request, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  stop = async () => void server.close();
  const user = telegram.user({ firstName: 'Anna' });
  await user.send('/start');
  await api.setWebhook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
    secret_token: 'secret',
  });
  await user.reads(/Hello, outsider/);
  expect(refusals).toBeLessThan(0);
  await expect(api.getUpdates()).rejects.toThrow('409: Conflict');
  server.closeAllConnections();
});

it('repeats an update until it is confirmed, and ends the older of two polls', async () => {
  const user = telegram.user({ firstName: 'Anna' });
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
  [
    'sendMessage',
    { text: 'a', reply_markup: { inline_keyboard: [[{ text: 'a' }]] } },
    'Text buttons are unallowed',
  ],
  [
    'sendMessage',
    { text: 'a', reply_markup: new InlineKeyboard().text('a', 'ы'.repeat(33)) },
    'BUTTON_DATA_INVALID',
  ],
  ['sendPhoto', { photo: 'unknown' }, 'wrong file identifier'],
  ['sendSticker', { sticker: 'unknown' }, 'Not Found'],
])('refuses and notes a wrong %s %o', async (method, parameters, why) => {
  const user = telegram.user({ firstName: 'Anna' });
  await user.send('/start');
  const call = api.raw[method as 'sendMessage']({ chat_id: user.account.id, ...parameters } as never);
  await expect(call).rejects.toThrow(why);
  expect(telegram.violations).toHaveLength(1);
});

it('refuses what the state of a chat does not allow, without a violation', async () => {
  const user = telegram.user({ firstName: 'Anna' });
  const id = user.account.id;
  await expect(api.sendMessage(id, 'too early')).rejects.toThrow('400: Bad Request: chat not found');
  const own = await user.send('hello');
  await expect(api.editMessageText(id, own.id, 'mine now')).rejects.toThrow("message can't be edited");
  const { message_id } = await api.sendMessage(id, 'text');
  await expect(api.editMessageText(id, message_id, 'text')).rejects.toThrow('message is not modified');
  await api.deleteMessage(id, message_id);
  await expect(api.deleteMessage(id, message_id)).rejects.toThrow('message to delete not found');
  await expect(api.editMessageText(id, message_id, 'more')).rejects.toThrow('message to edit not found');
  user.block();
  await expect(api.sendMessage(id, 'text')).rejects.toThrow('403: Forbidden: bot was blocked by the user');
  user.unblock();
  await api.sendMessage(id, 'text');
  expect(telegram.violations).toEqual([]);
  const outsider = new Api('1:wrong', { apiRoot: telegram.root });
  await expect(outsider.getMe()).rejects.toThrow('401: Unauthorized');
});

it('accepts one answer to a callback query, and none that is late', async () => {
  const user = telegram.user({ firstName: 'Anna' });
  await user.send('/start');
  await api.sendMessage(user.account.id, 'Pay?', { reply_markup: new InlineKeyboard().text('Pay', 'pay') });
  await user.press('Pay');
  const [, update] = await api.getUpdates();
  const { id } = update!.callback_query!;
  expect(telegram.unansweredPresses()).toEqual([id]);
  await api.answerCallbackQuery(id);
  await expect(api.answerCallbackQuery(id)).rejects.toThrow('query is too old');
  await user.press('Pay');
  telegram.expirePresses();
  await expect(api.answerCallbackQuery(telegram.unansweredPresses()[0]!)).rejects.toThrow('query is too old');
});

it('has groups, where staff press buttons, and outsiders who forge callback queries', async () => {
  const staff = telegram.group({ title: 'Staff' });
  const [anna, boris] = [staff.join({ firstName: 'Anna' }), staff.join({ firstName: 'Boris' })];
  const keyboard = new InlineKeyboard().text('Approve', 'approve:1');
  await api.sendMessage(staff.chatState.chat.id, 'A withdrawal', { reply_markup: keyboard });
  const { message } = await anna.reads(/withdrawal/);
  await boris.reads(/withdrawal/);
  await boris.send('the bot does not get this');
  await boris.press('Approve');
  const outsider = telegram.user({ firstName: 'Eve' });
  await outsider.forgeCallback(message, 'approve:2');
  await api.deleteMessage(staff.chatState.chat.id, message.id);
  await anna.pressOn(message, 'Approve');
  const queries = (await api.getUpdates()).map(update => update.callback_query!);
  expect(queries.map(({ from, data }) => [from.first_name, data])).toEqual([
    ['Boris', 'approve:1'],
    ['Eve', 'approve:2'],
    ['Anna', 'approve:1'],
  ]);
  expect(queries[1]!.message!.chat).toEqual(staff.chatState.chat);
  expect(queries[2]!.message!.date).toBe(0);
});

it('fails as configured', async () => {
  const user = telegram.user({ firstName: 'Anna' });
  await user.send('/start');
  const send = () => api.sendMessage(user.account.id, 'text');
  telegram.fail(
    { kind: 'tooManyRequests', retryAfter: 7 },
    { method: 'sendMessage', chatId: user.account.id },
  );
  await expect(send()).rejects.toMatchObject({ error_code: 429, parameters: { retry_after: 7 } });
  telegram.fail({ kind: 'serverError', status: 502 }, { times: 2 });
  await expect(send()).rejects.toThrow('Network request');
  await expect(send()).rejects.toThrow('Network request');
  telegram.fail({ kind: 'disconnect' });
  await expect(send()).rejects.toThrow('Network request');
  telegram.fail({ kind: 'hang' });
  await expect(
    api.sendMessage(user.account.id, 'text', {}, AbortSignal.timeout(100) as never),
  ).rejects.toThrow();
  expect(user.messages).toHaveLength(1);
  telegram.fail({ kind: 'answerLost' });
  await expect(send()).rejects.toThrow('Network request');
  expect(user.messages).toHaveLength(2);
  await send();
});

it('takes the other calls of a bot, also as a form', async () => {
  const user = telegram.user({ firstName: 'Anna' });
  const id = user.account.id;
  await user.sendForwarded('look at this', telegram.bot);
  const [update] = await api.getUpdates();
  expect(update!.message!.forward_origin).toMatchObject({
    type: 'user',
    sender_user: { id: telegram.bot.id },
  });
  await api.setMyCommands([{ command: 'start', description: 'Start' }], { language_code: 'en' });
  await api.setMyDescription('Pays QR codes');
  await api.setChatMenuButton({ menu_button: { type: 'commands' } });
  await api.sendChatAction(id, 'typing');
  expect(await api.getWebhookInfo()).toMatchObject({ url: '', pending_update_count: 1 });
  await api.deleteWebhook({ drop_pending_updates: true });
  expect(telegram.pendingUpdates()).toBe(0);
  const keyboard = new InlineKeyboard().text('Done', 'done');
  const sent = await api.sendPhoto(id, new InputFile(dot), { reply_markup: keyboard, protect_content: true });
  expect(user.screen().buttons).toEqual([['Done']]);
  await api.editMessageReplyMarkup(id, sent.message_id);
  expect(user.screen().buttons).toEqual([]);
  await api.deleteMessages(id, [sent.message_id, 1]);
  expect(user.messages.at(-1)!.isDeleted).toBe(true);
  telegram.setLatency(60);
  const start = performance.now();
  await api.getMe();
  expect(performance.now() - start).toBeGreaterThan(50);
  expect(telegram.violations).toEqual([]);
});

it('draws a dialogue', async () => {
  const user = telegram.user({ firstName: 'Anna' });
  await user.send('/start');
  const keyboard = new InlineKeyboard().text('Pay <now>', 'pay').text('Cancel', 'cancel');
  await api.sendMessage(user.account.id, `<b>1 500 ₽</b> to ${'a'.repeat(40)}`, {
    parse_mode: 'HTML',
    reply_markup: keyboard,
  });
  await user.sendPhoto(dot, 'receipt');
  const svg = dialogueToSvg(user);
  expect(svg).toContain('Pay &lt;now&gt;');
  expect(svg).toContain('<tspan font-weight="600">');
  expect(svg).toContain('data:image/png;base64,');
});
