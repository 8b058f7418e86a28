import { test as base, expect } from 'vitest';
import { createPortalLink } from '../../src/partners/index.ts';
import { createPartnerWithKeys } from '../helpers/api.ts';
import { answers, refusal } from '../helpers/console.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { initDataOf, newPerson, startPortal } from '../helpers/portal.ts';

const { pool, sql, clock } = await createTimedDatabase('2026-11-17T12:00:00Z');
const { visit, signIn, member, audit, join } = await startPortal({ pool, clock });
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
const test = base
  .extend('shops', () => setUp())
  .extend('partnerId', async () => (await createPartnerWithKeys(pool)).partnerId)
  .extend('owner', ({ partnerId }) => member(partnerId, 'owner'));

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
  expect(
    await sql`SELECT actor, after->>'session_id' AS session_id FROM audit WHERE action = 'portal.sign_out' ORDER BY id DESC LIMIT 1`,
  ).toEqual([{ actor: `telegram:${owner.person.userId}`, session_id: owner.sessionId }]);
  await answers(404, visit().post(path, proof));
});

test('the agreement names the session that is replaced', async ({ shops: { owner, other } }) => {
  const { sessionId } = await member((await createPartnerWithKeys(pool)).partnerId, 'owner');
  const token = await createPortalLink(audit, other);
  for (const replaces of [sessionId, 'ses_none', ''])
    expect((await owner.post('/sign-in', { token, replaces })).json.question).toBe('other_person');
  expect(await personIn(owner)).toBe(`${owner.person.userId}`);
});

test('an ended session asks as well, and does not show whose it was', async ({ shops: { owner, other } }) => {
  await (await signIn(owner.person)).post(`/sessions/${owner.sessionId}/end`);
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

test('of two agreements at once, one signs in', async ({ shops: { owner, other } }) => {
  const token = await createPortalLink(audit, other);
  const body = { token, replaces: owner.sessionId };
  const given = await Promise.all([1, 2].map(() => Object.assign(visit(), owner).post('/sign-in', body)));
  expect(given.map(({ status }) => status).sort()).toEqual([200, 404]);
});

const tooMany = '429 too_many_changes';
const recordsOf = async (userId: bigint) =>
  (await sql`SELECT count(*)::int FROM audit WHERE actor = ${`telegram:${userId}`}`)[0].count;

/** As if so many had been made today. */
const count = (kind: string, userId: bigint, made: number) =>
  pool.query(
    `INSERT INTO daily_changes (owner, day, count) VALUES ($1, $2, $3)
     ON CONFLICT (owner) DO UPDATE SET day = excluded.day, count = excluded.count`,
    [`${kind} telegram:${userId}`, new Date(clock.nowMs() - (clock.nowMs() % 86_400_000)), made],
  );

test('a person makes 300 changes a day, of whatever kind', async ({ partnerId, owner }) => {
  const colleague = await member(partnerId, 'viewer');
  const { userId } = owner.person;
  expect(await recordsOf(userId)).toBe(1);
  await count('changes', userId, 281);
  let answer = await owner.act('/team/invite', { role: 'viewer' });
  for (let nth = 1; answer.status === 200 && nth < 60; nth++) {
    clock.advance(100);
    answer = await owner.act('/team/invite', { role: 'viewer' });
  }
  expect(answer).toMatchObject(refusal(429, 'too_many_changes'));
  expect(await recordsOf(userId)).toBe(20);

  await answers(tooMany, owner.act('/webhook', { mode: 'test', url: 'https://shop.example/' }));
  await answers(tooMany, owner.act('/keys', { mode: 'test', scopes: ['read'], allowed_addresses: [] }));
  expect(await recordsOf(userId)).toBe(20);

  // What takes something away goes on, and so do others.
  await answers(200, owner.act(`/team/${colleague.person.userId}/remove`));
  const other = await member((await createPartnerWithKeys(pool)).partnerId, 'owner', newPerson());
  await answers(200, other.act('/team/invite', { role: 'viewer' }));
  clock.advance(12 * 3_600_000);
  const next = await signIn(owner.person);
  await answers(200, next.post(`/partners/${partnerId}/team/invite`, { role: 'viewer' }));
});

test('who has made all changes of the day signs in and ends a stolen session', async ({ partnerId }) => {
  const stolen = await member(partnerId, 'owner');
  const { person } = stolen;
  await count('changes', person.userId, 300);
  await answers(tooMany, stolen.act('/team/invite', { role: 'viewer' }));
  const own = visit();
  const token = await createPortalLink(audit, person);
  await answers(200, own.post('/sign-in', { token }));
  await answers(200, own.post(`/sessions/${stolen.sessionId}/end`));
  await answers(401, stolen.get('/sessions'));
  await answers(200, own.post('/logout'));
});

test('sign-ins have a maximum of their own', async ({ owner: { person, act } }) => {
  await count('sign-ins', person.userId, 299);
  const arrive = async () => visit().post('/sign-in', { token: await createPortalLink(audit, person) });
  await answers(200, arrive());
  await answers(tooMany, arrive());
  await answers(200, act('/team/invite', { role: 'viewer' }));
});

test('the portal says which maximum of keys is reached', async ({ owner }) => {
  const key = { mode: 'test', scopes: ['read'], allowed_addresses: [] };
  let answer = await owner.act('/keys', key);
  for (let count = 1; answer.status === 200 && count < 60; count++) {
    clock.advance(1_000);
    answer = await owner.act('/keys', key);
  }
  expect(answer).toMatchObject(refusal(409, 'too_many_keys'));
  const { data } = (await owner.read('/keys')).json;
  const active = data.filter((one: { mode: string; state: string }) => one.mode === 'test');
  expect(active).toHaveLength(20);
});
