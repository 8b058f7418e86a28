import { expect, test } from 'vitest';
import { approveLive } from '../../src/partners/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { createBotWorld } from './setup.ts';

const clock = manualClock(new Date().toISOString());
const { audit, ownerOf, logged } = await createBotWorld({ clock });

/** The longest texts that Telegram allows, and characters that cannot be shown or stored. */
const unusable = [
  'x'.repeat(4_096),
  '🐘'.repeat(2_048),
  '<b>&amp;'.repeat(512),
  'a\u0000b',
  '\u202eright to left\u202c',
];
/** Texts that break careless HTML, SQL, JSON and patterns, or only look like numbers; valid as names. */
const odd = [
  '<b>unclosed & <script>',
  `'; DROP TABLE partners; --`,
  '{"a":[1,',
  '\\u0000 %s $1',
  '-1',
  '0',
  '1e9',
  'NaN',
  '١٢٣',
];

interface Question {
  /** The buttons from the menu to the question. */
  path: string[];
  asked: RegExp;
  /** The reply to a wrong answer. */
  wrong: RegExp;
  answers: string[];
  right: string;
  done: RegExp;
}

const badName = [...unusable, 'two\nlines', 'x'.repeat(129), '\u200b', '\u2028'];
const badAddresses = [
  ...unusable,
  ...odd,
  '192.0.2.7/33',
  '192.0.2',
  '2001:db8::/129',
  ';,;',
  '192.0.2.7 '.repeat(21),
];
const badUrls = [
  ...unusable,
  ...odd,
  'ftp://example.com',
  'example.com',
  'https://',
  'https://u:p@example.com/',
  'https://example.com:80/',
];
const badMarks = [...unusable, ...odd, 'a lot', '1.0000001', '1 000 000 000 000 000', '0,0', '+5', '5 USDT'];
const badPayments = [...unusable, ...odd, 'pay_', `pay_${'0'.repeat(26)}`, 'nothing'];

const questions: Question[] = [
  {
    path: ['🔀 Switch partner', '🚀 Sign up'],
    asked: /What is the name of your company/,
    wrong: /must be one line of 1 to 128 characters/,
    answers: badName,
    right: 'Second shop',
    done: /is signed up/,
  },
  {
    path: ['🔑 Keys', '➕ Live key'],
    asked: /Which IP addresses/,
    wrong: /not a list of 1 to 20 IP addresses/,
    answers: badAddresses,
    right: '192.0.2.7',
    done: /shown only once/,
  },
  {
    path: ['📬 Webhook', '✏️ Set URL'],
    asked: /Type the URL/,
    wrong: /This URL cannot be used/,
    answers: badUrls,
    right: 'https://example.com/hook',
    done: /is saved/,
  },
  {
    path: ['💰 Balance', '🪫 Low-balance alert'],
    asked: /At what live balance/,
    wrong: /Type a positive number/,
    answers: badMarks,
    right: '99,5',
    done: /below 99\.500000 USDT/,
  },
  {
    path: ['🧾 Payments', '🔎 Find'],
    asked: /Type a payment ID/,
    wrong: /No payment found/,
    answers: badPayments,
    right: '/menu',
    done: /Your role/,
  },
];

test.each(questions.map(question => [question.path.at(-1)!, question] as const))(
  '%s: a wrong answer is explained and the question stays',
  async (name, { path, asked, answers, wrong, right, done }) => {
    const { owner, partnerId } = await ownerOf(`Wrong ${name}`);
    await approveLive(audit, partnerId);
    await owner.writes('/menu', /Your role/);
    for (const button of path) await owner.presses(button);
    await owner.reads(asked);
    for (const typed of answers) {
      clock.advance(1_000);
      await owner.send(typed);
      await owner.reads(wrong);
    }
    await owner.send(right);
    await owner.reads(done);
    expect(logged.filter(line => line.includes('bot error'))).toEqual([]);
  },
);

test('unusual names are shown as they are', async () => {
  const name = `<b>${'&'.repeat(120)}</b>`;
  const { owner } = await ownerOf('Plain');
  await owner.goes(['🔀 Switch partner', /Choose a partner/], ['🚀 Sign up', /What is the name/]);
  const { text } = await owner.writes(name, /is signed up/);
  expect(text).toContain(name);
});
