import type { Message, Update } from 'grammy/types';
import { expect, test } from 'vitest';
import { startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import type { PrivateUser } from '../telegram/user.ts';
import { ownerOf, startTestBot, type TestBot } from './setup.ts';

const { pool, sql } = await createDatabase();
const path = '/telegram/updates';
const secret = 'a-secret-of-the-tests';
let world: TestBot;
const { address } = await startApi({
  pool,
  telegramReceiver: { path, secret, handle: update => world.first.receiver!.handle(update) },
});
world = await startTestBot({ pool, webhook: { url: `${address}${path}`, secret } });

/** A request as Telegram sends it, if the token is the right one. */
const post = (body: string, token?: string) =>
  fetch(`${address}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { 'x-telegram-bot-api-secret-token': token }),
    },
    body,
  });

test('Telegram sends updates to the port of the API', async () => {
  const { owner } = await ownerOf(world, pool, 'Hook');
  await owner.goes(['💰 Balance', /Amount per payment/]);
  expect(world.telegram.calls.some(({ method }) => method === 'getUpdates')).toBe(false);
  expect(world.first.receiver!.path).toBe(path);
});

test('without the secret the route answers 404', async () => {
  const person = { id: 7, is_bot: false, first_name: 'M' };
  const message = { message_id: 1, date: 0, chat: { id: 7, type: 'private' }, from: person, text: '/start' };
  for (const token of [undefined, 'another']) {
    const response = await post(JSON.stringify({ update_id: 1, message }), token);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not_found' } });
  }
  expect(await sql`SELECT FROM chat_users WHERE user_id = 7`).toEqual([]);
});

test('a body that is no update, or is too large, is refused with an API error', async () => {
  const tooLarge = JSON.stringify({ update_id: 1, padding: 'x'.repeat(1024 * 1024) });
  for (const body of ['{"update_id":', 'nonsense', '42', 'null', '', tooLarge]) {
    const response = await post(body, secret);
    expect([body.slice(0, 20), response.status]).toEqual([body.slice(0, 20), 400]);
    expect(await response.json()).toEqual({
      error: {
        code: 'invalid_request',
        message: expect.any(String),
        request_id: response.headers.get('x-request-id'),
      },
    });
  }
});

let nextId = 1;
const bring = (update: object) => world.first.receiver!.handle({ update_id: nextId++, ...update });
const failures = () => world.logged.filter(line => line.includes('bot error'));

const file = { file_id: 'unknown', file_unique_id: 'u' };
const contents: Record<string, object> = {
  sticker: {
    sticker: { ...file, type: 'regular', width: 512, height: 512, is_animated: false, is_video: false },
  },
  voice: { voice: { ...file, duration: 3 } },
  audio: { audio: { ...file, duration: 3 }, caption: 'x'.repeat(1_024) },
  video: { video: { ...file, width: 1, height: 1, duration: 1 } },
  'video note': { video_note: { ...file, length: 240, duration: 3 } },
  location: { location: { latitude: 55.75, longitude: 37.61 } },
  venue: { venue: { location: { latitude: 0, longitude: 0 }, title: '<b>', address: '&' } },
  contact: { contact: { phone_number: '+70000000000', first_name: '<b>', user_id: 1 } },
  dice: { dice: { emoji: '🎲', value: 6 } },
  poll: { poll: { id: '1', question: '?', options: [], total_voter_count: 0 } },
  story: { story: { id: 1, chat: { id: 1, type: 'private', first_name: 'S' } } },
  'pinned message': { pinned_message: { message_id: 1, chat: { id: 1, type: 'private' }, date: 0 } },
  'nothing at all': {},
};

const messageOf = ({ account, chatState }: PrivateUser, content: object) => ({
  message_id: 900_000 + nextId,
  date: 1_800_000_000,
  from: account,
  chat: chatState.chat,
  ...content,
});

test('a message without text shows the menu', async () => {
  const { owner } = await ownerOf(world, pool, 'Show');
  for (const content of Object.values(contents)) {
    await bring({ message: messageOf(owner, content) });
    await owner.reads(/Your role/);
  }
  expect(failures()).toEqual([]);
});

test('anything but an answer leaves the question open', async () => {
  const { owner } = await ownerOf(world, pool, 'Stay');
  await (await owner.press('💰 Balance')).answer();
  await (await owner.press('🪫 Low-balance alert')).answer();
  for (const content of Object.values(contents)) {
    await bring({ message: messageOf(owner, content) });
    await owner.reads(/I can only read text/);
  }
  await owner.writes('5', /below 5\.000000 USDT/);
  expect(failures()).toEqual([]);
});

test('files that are not pictures, or too large, cause no error', async () => {
  const { owner } = await ownerOf(world, pool, 'Files');
  const tooLarge = [Buffer.alloc(11_000_000), Buffer.alloc(21_000_000)];
  for (const bytes of [Buffer.from('%PDF-1.7'), Buffer.alloc(0), ...tooLarge]) {
    await owner.sendDocument(bytes, 'invoice.pdf');
    await owner.reads(/no readable QR code/);
  }
  // Telegram sends an animation as a document, too.
  await bring({ message: messageOf(owner, { animation: file, document: file }) });
  await owner.reads(/no readable QR code/);
  expect(failures()).toEqual([]);
});

test('edits, posts in channels and groups, and other kinds of updates are ignored', async () => {
  const { owner } = await ownerOf(world, pool, 'Ignored');
  const before = owner.messages.length;
  const text = messageOf(owner, { text: '/menu' });
  const channel = { id: -1_001_000_000_000, type: 'channel', title: 'News' };
  const group = { id: -1_002_000_000_000, type: 'supergroup', title: 'Talk' };
  const post = { message_id: 1, date: 1_800_000_000, chat: channel, sender_chat: channel, text: '/start' };
  const updates: Partial<Record<keyof Update, object>>[] = [
    { edited_message: { ...text, edit_date: 1_800_000_001 } },
    { channel_post: post },
    { edited_channel_post: { ...post, edit_date: 1_800_000_001 } },
    { message: { ...text, chat: group } },
    { message: { ...post, chat: group } },
    { message: { ...text, chat: group, text: undefined, new_chat_members: [owner.account] } },
    { inline_query: { id: '1', from: owner.account, query: 'x', offset: '' } },
    { poll: { id: '1', question: '?', options: [] } },
    { callback_query: { id: '1', from: owner.account, chat_instance: '1', game_short_name: 'chess' } },
    {},
  ];
  for (const update of updates) await bring(update);
  const answers = owner.messages.slice(before) as Pick<Message, 'text'>[];
  expect(answers).toEqual([]);
  expect(failures()).toEqual([]);
});

test('a name with characters that cannot be stored or shown is stored without them', async () => {
  const odd = world.telegram.user({ firstName: 'O\u0000l\ud800ga\u202e', languageCode: 'en' });
  await odd.writes('/menu', ({ buttons }) => buttons.flat().includes('🚀 Sign up'));
  await odd.goes(['🚀 Sign up', /What is the name of your company/]);
  await odd.writes('Odd names', /is signed up/);
  expect(await sql`SELECT name FROM members WHERE user_id = ${odd.account.id}`).toEqual([
    { name: 'Ol\ufffdga' },
  ]);
});

// Last, since it leaves errors in the log.
test('updates are refused until getMe succeeds, and each failure is logged', async () => {
  const { receiver } = world.start();
  world.telegram.fail({ kind: 'serverError', status: 502 }, { method: 'getMe' });
  await expect(receiver!.handle({ update_id: 1 })).rejects.toThrow('does not answer getMe');
  expect(world.logged.filter(line => /'getMe' failed/.test(line))).toHaveLength(1);
  await receiver!.handle({ update_id: 1 });
});
