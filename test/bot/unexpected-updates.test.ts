import type { Message, Update } from 'grammy/types';
import { expect, test } from 'vitest';
import { startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import type { PrivateUser } from '../telegram/user.ts';
import { ownerOf, startTestBot, type TestBot } from './setup.ts';

const { pool } = await createDatabase();
const path = '/telegram/updates';
const secret = 'a-secret-of-the-tests';
let world: TestBot;
const { address } = await startApi({
  pool,
  telegramReceiver: { path, secret, handle: update => world.first.receiver!.handle(update) },
});
world = await startTestBot({ pool, webhook: { url: `${address}${path}`, secret } });

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
  await owner.send('5');
  await owner.reads(/below 5\.000000 USDT/);
  expect(failures()).toEqual([]);
});

test('files that are not pictures, or too large, cause no error', async () => {
  const { owner } = await ownerOf(world, pool, 'Files');
  const files = [
    Buffer.from('%PDF-1.7'),
    Buffer.alloc(0),
    Buffer.alloc(11_000_000),
    Buffer.alloc(21_000_000),
  ];
  for (const bytes of files) {
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
  await odd.send('/menu');
  await odd.reads(({ buttons }) => buttons.flat().includes('🚀 Sign up'));
  await odd.press('🚀 Sign up');
  await odd.reads(/What is the name of your company/);
  await odd.send('Odd names');
  await odd.reads(/is signed up/);
  const { rows } = await pool.query('SELECT name FROM members WHERE user_id = $1', [odd.account.id]);
  expect(rows).toEqual([{ name: 'Ol\ufffdga' }]);
});
