import { expect, test } from 'vitest';
import { createPortalLink } from '../../src/partners/index.ts';
import { createPartnerWithKeys } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { refusal } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { newPerson, startPortal } from '../helpers/portal.ts';

const { pool } = await createDatabase();
const clock = manualClock('2026-11-17T12:00:00Z');
const { visit, signIn, member, audit } = await startPortal({ pool, clock });
const tooMany = refusal(429, 'too_many_changes');
const recordsOf = async (userId: bigint) =>
  (await pool.query('SELECT count(*)::int FROM audit WHERE actor = $1', [`telegram:${userId}`])).rows[0]
    .count;

/** As if so many had been made today. */
const count = (kind: string, userId: bigint, made: number) =>
  pool.query(
    `INSERT INTO daily_changes (owner, day, count) VALUES ($1, $2, $3)
     ON CONFLICT (owner) DO UPDATE SET day = excluded.day, count = excluded.count`,
    [`${kind} telegram:${userId}`, new Date(clock.nowMs() - (clock.nowMs() % 86_400_000)), made],
  );

test('a person makes 300 changes a day, of whatever kind', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const owner = await member(partnerId, 'owner');
  const colleague = await member(partnerId, 'viewer');
  const { userId } = owner.person;
  expect(await recordsOf(userId)).toBe(1);
  await count('changes', userId, 281);
  let answer = await owner.act('/team/invite', { role: 'viewer' });
  for (let nth = 1; answer.status === 200 && nth < 60; nth++) {
    clock.advance(100);
    answer = await owner.act('/team/invite', { role: 'viewer' });
  }
  expect(answer).toMatchObject(tooMany);
  expect(await recordsOf(userId)).toBe(20);

  expect(await owner.act('/webhook', { mode: 'test', url: 'https://shop.example/' })).toMatchObject(tooMany);
  expect(await owner.act('/keys', { mode: 'test', scopes: ['read'], allowed_addresses: [] })).toMatchObject(
    tooMany,
  );
  expect(await recordsOf(userId)).toBe(20);

  // What takes something away goes on, and so do others.
  expect((await owner.act(`/team/${colleague.person.userId}/remove`)).status).toBe(200);
  const other = await member((await createPartnerWithKeys(pool)).partnerId, 'owner', newPerson());
  expect((await other.act('/team/invite', { role: 'viewer' })).status).toBe(200);
  clock.advance(12 * 3_600_000);
  const next = await signIn(owner.person);
  expect((await next.post(`/partners/${partnerId}/team/invite`, { role: 'viewer' })).status).toBe(200);
});

test('who has made all changes of the day signs in and ends a stolen session', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const stolen = await member(partnerId, 'owner');
  const { person } = stolen;
  await count('changes', person.userId, 300);
  expect(await stolen.act('/team/invite', { role: 'viewer' })).toMatchObject(tooMany);
  const own = visit();
  const token = await createPortalLink(audit, person);
  expect((await own.post('/sign-in', { token })).status).toBe(200);
  expect((await own.post(`/sessions/${stolen.sessionId}/end`)).status).toBe(200);
  expect((await stolen.get('/sessions')).status).toBe(401);
  expect((await own.post('/logout')).status).toBe(200);
});

test('sign-ins have a maximum of their own', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const { person, act } = await member(partnerId, 'owner');
  await count('sign-ins', person.userId, 299);
  const arrive = async () => visit().post('/sign-in', { token: await createPortalLink(audit, person) });
  expect((await arrive()).status).toBe(200);
  expect(await arrive()).toMatchObject(tooMany);
  expect((await act('/team/invite', { role: 'viewer' })).status).toBe(200);
});

test('the portal says which maximum of keys is reached', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const owner = await member(partnerId, 'owner');
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
