import { expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { approveLive, invite, listMembers } from '../../src/partners/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { createBotWorld } from './setup.ts';

const clock = manualClock(new Date().toISOString());
const { pool, sql, telegram, audit, ownerOf, memberOf, logged } = await createBotWorld({ clock });

/** Members who joined one after the other and never wrote to the bot. */
const fill = (partnerId: Id<'prt'>, count: number) =>
  pool.query(
    `INSERT INTO members (partner_id, user_id, role, name, joined_at)
     SELECT $1, n, 'viewer', repeat('🐘<', 30) || n, now() - make_interval(days => 1) FROM generate_series(1, $2) n`,
    [uuidFromId(partnerId), count],
  );

test('an owner changes a role once confirmed, at once and on record', async () => {
  const { owner, partnerId } = await ownerOf('Grades');
  const vera = await memberOf(partnerId, 'viewer', 'Vera');
  const menu = vera.screen();
  const suffix = partnerId.slice(4);
  for (const data of [`tg:${suffix}:${vera.account.id}`, `tc:${suffix}:${vera.account.id}:owner`]) {
    expect(await vera.forges(menu.message, data)).toBe('Required role: owner.');
  }
  const keys = () => vera.forgeCallback(menu.message, `k:${suffix}`);
  expect((await (await keys()).answer()).text).toBe('Required role: developer or owner.');

  await owner.forgeCallback(owner.screen().message, `t:${suffix}`);
  await owner.reads(({ buttons }) => buttons.flat().includes('🎭 Vera: viewer'));
  const { message } = await owner.goes(
    ['🎭 Vera: viewer', ({ buttons }) => buttons.flat().includes('➡️ developer')],
    ['➡️ developer', /to developer\? It takes effect immediately/],
  );
  await owner.goes(['➡️ developer', ({ text }) => text.includes('Vera, developer')]);
  await vera.reads(/Vera has a new role: developer/);
  await (await owner.pressOn(message, '➡️ developer')).answer();
  await keys();
  await vera.reads(/no active keys/);
  expect(
    await sql`SELECT actor, before->>'role' AS before, after->>'role' AS after FROM audit
      WHERE action = 'member.role' AND subject = ${partnerId}`,
  ).toEqual([{ actor: `telegram:${owner.account.id}`, before: 'viewer', after: 'developer' }]);

  await owner.goes(
    [`🎭 ${owner.account.first_name}: owner`, ({ buttons }) => buttons.flat().includes('➡️ developer')],
    ['➡️ developer', /to developer\? It takes effect immediately/],
  );
  expect(await owner.presses('➡️ developer')).toMatch(/team needs an owner/);
  const members = await listMembers(pool, partnerId);
  expect(members.map(({ role }) => role)).toEqual(['owner', 'developer']);
});

test('an owner who gives up the role has no owner buttons any more', async () => {
  const { owner, partnerId } = await ownerOf('Modest');
  await memberOf(partnerId, 'owner', 'Heir');
  const { message } = owner.screen();
  await owner.forgeCallback(message, `tc:${partnerId.slice(4)}:${owner.account.id}:viewer`);
  await owner.reads(/takes effect immediately/);
  const { buttons } = await owner.goes(['➡️ viewer', /Owner of Modest, viewer/]);
  expect(buttons).toEqual([['🚪 Leave'], ['⬅️ Back']]);
});

test('the last member of a large team can leave, and an owner removes the members shown', async () => {
  const { owner, partnerId } = await ownerOf('Crowd');
  const late = await memberOf(partnerId, 'viewer', 'Late', 'ru');
  await fill(partnerId, 50);
  const { text } = await late.goes(['👥 Команда', /Late, наблюдатель/]);
  expect(text).toContain('… и ещё 11');
  await late.goes(['🚪 Выйти', /Выйти из Crowd/], ['🚪 Выйти', /Вы вышли из Crowd/]);

  const shown = await owner.goes(['👥 Team', /… and 11 more/]);
  expect(shown.buttons.flat().filter(caption => caption.startsWith('🗑'))).toHaveLength(39);
});

test('nobody joins a full team, and the invitation stays', async () => {
  const { partnerId } = await ownerOf('Full');
  await fill(partnerId, 39);
  const token = await invite(audit, partnerId, null, 'developer');
  const guest = telegram.user({ firstName: 'Guest', languageCode: 'en' });
  await guest.writes(`/start inv_${token}`, /The team of Full is full: 40 members/);
  await pool.query('DELETE FROM members WHERE partner_id = $1 AND user_id = 1', [uuidFromId(partnerId)]);
  await guest.writes(`/start inv_${token}`, /Welcome to Full/);
});

test('leaving partners makes no room for signing up again on the same day', async () => {
  const fickle = telegram.user({ firstName: 'Fickle', languageCode: 'en' });
  await fickle.send('/menu');
  const signUp = async (name: string, expected: RegExp) => {
    clock.advance(5_000);
    await fickle.reads(({ buttons }) => buttons.flat().includes('🚀 Sign up'));
    await fickle.goes(['🚀 Sign up', /What is the name of your company/]);
    await fickle.send(name);
    await fickle.reads(expected);
  };
  for (let n = 1; n <= 5; n++) {
    await signUp(`Whim ${n}`, /is signed up/);
    await pool.query('DELETE FROM members WHERE user_id = $1', [fickle.account.id]);
    await fickle.send('/menu');
  }
  await signUp('Whim 6', /daily sign-up limit/);
  clock.advance(24 * 3_600_000);
  await signUp('Whim 6', /is signed up/);
});

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

/** The buttons from the menu to the question, the reply to a wrong answer, and wrong and right answers. */
const questions = [
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
