import { expect, test } from 'vitest';
import { createPortalLink } from '../../src/partners/index.ts';
import { createPartnerWithKeys } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { initDataOf, newPerson, startPortal } from '../helpers/portal.ts';

const { pool } = await createDatabase();
const clock = manualClock('2026-11-17T12:00:00Z');
const { visit, member, audit, join } = await startPortal({ pool, clock });
type Browser = ReturnType<typeof visit>;
const personIn = async (browser: Browser) =>
  (await browser.get('/session/current')).json.session?.person.user_id;

/** Somebody in another team, with the same name, who wants to be taken for the one who is signed in. */
async function setUp() {
  const [own, foreign] = [await createPartnerWithKeys(pool), await createPartnerWithKeys(pool)];
  const owner = await member(own.partnerId, 'owner', newPerson('Anna'));
  const other = newPerson('Anna');
  await join(foreign.partnerId, other, 'owner');
  return { owner, other, own: own.partnerId, foreign: foreign.partnerId };
}

const arrivals = [
  ['a link', '/sign-in', async (person: Person) => ({ token: await createPortalLink(audit, person) })],
  [
    'a Mini App',
    '/sign-in/telegram',
    async ({ userId, name }: Person) => ({
      init_data: initDataOf({ id: Number(userId), first_name: name }, { at: new Date(clock.nowMs()) }),
    }),
  ],
] as const;
type Person = ReturnType<typeof newPerson>;

test.each(arrivals)('%s of another person signs in only after a question', async (_what, path, arrive) => {
  const { owner, other, own, foreign } = await setUp();
  const before = owner.cookie;
  const proof = await arrive(other);
  const asked = await owner.post(path, proof);
  expect(asked).toMatchObject({
    status: 200,
    json: {
      question: 'other_person',
      session_id: owner.sessionId,
      signed_in: { person: { user_id: `${owner.person.userId}` }, partners: [{ partner_id: own }] },
      arriving: { person: { user_id: `${other.userId}` }, partners: [{ partner_id: foreign }] },
    },
  });
  expect(asked.headers.get('set-cookie')).toBeNull();
  expect(asked.text).not.toContain('csrf_token');
  expect(await personIn(owner)).toBe(`${owner.person.userId}`);

  // The question has not used up the proof.
  const agreed = await owner.post(path, { ...proof, replaces: owner.sessionId });
  expect(agreed).toMatchObject({ status: 200, json: { person: { user_id: `${other.userId}` } } });
  expect(await personIn(owner)).toBe(`${other.userId}`);
  const old = Object.assign(visit(), { cookie: before });
  expect(await personIn(old)).toBeUndefined();
  const { rows } = await pool.query(
    `SELECT actor, after->>'session_id' AS session_id FROM audit WHERE action = 'portal.sign_out' ORDER BY id DESC LIMIT 1`,
  );
  expect(rows).toEqual([{ actor: `telegram:${owner.person.userId}`, session_id: owner.sessionId }]);
  expect((await visit().post(path, proof)).status).toBe(404);
});

test('the agreement names the session that is replaced', async () => {
  const { owner, other } = await setUp();
  const { sessionId } = await member((await createPartnerWithKeys(pool)).partnerId, 'owner');
  const token = await createPortalLink(audit, other);
  for (const replaces of [sessionId, 'ses_none', ''])
    expect((await owner.post('/sign-in', { token, replaces })).json.question).toBe('other_person');
  expect(await personIn(owner)).toBe(`${owner.person.userId}`);
});

test('an ended session asks as well, and does not show whose it was', async () => {
  const { owner, other } = await setUp();
  clock.advance(31 * 60_000);
  expect(await personIn(owner)).toBeUndefined();
  const token = await createPortalLink(audit, other);
  const asked = await owner.post('/sign-in', { token });
  expect(asked.json).toMatchObject({ question: 'other_person', signed_in: null });
  expect(asked.text).not.toContain(`${owner.person.userId}`);
  const replaces = asked.json.session_id;
  expect((await owner.post('/sign-in', { token, replaces })).json.person.user_id).toBe(`${other.userId}`);
});

test('the same person, and a browser that was signed out, are not asked', async () => {
  const { owner, other } = await setUp();
  const before = owner.cookie;
  const again = await owner.post('/sign-in', { token: await createPortalLink(audit, owner.person) });
  expect(again.json.person.user_id).toBe(`${owner.person.userId}`);
  expect(await personIn(Object.assign(visit(), { cookie: before }))).toBeUndefined();
  expect((await owner.get('/sessions')).json.data).toHaveLength(1);
  await owner.post('/logout');
  const next = await owner.post('/sign-in', { token: await createPortalLink(audit, other) });
  expect(next.json.person.user_id).toBe(`${other.userId}`);
});

test('of two agreements at once, one signs in', async () => {
  const { owner, other } = await setUp();
  const token = await createPortalLink(audit, other);
  const body = { token, replaces: owner.sessionId };
  const answers = await Promise.all([1, 2].map(() => Object.assign(visit(), owner).post('/sign-in', body)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
});
