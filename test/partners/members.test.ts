import { expect, test } from 'vitest';
import {
  acceptInvitation,
  approveLive,
  changeRole,
  createKey,
  findPartner,
  invite,
  listMembers,
  listMemberships,
  refillTestBalance,
  refuseLive,
  removeMember,
  signUp,
} from '../../src/partners/index.ts';
import { createTimedDatabase, keyring } from '../helpers/database.ts';
import { words } from '../helpers/words.ts';

const { pool, clock } = await createTimedDatabase();
const audit = { pool, clock, actor: 'telegram:1' };
const anna = { userId: 7_300_000_001n, name: 'Anna' };
const boris = { userId: 7_300_000_002n, name: 'Boris' };
const vera = { userId: 7_300_000_003n, name: 'Vera' };

async function newPartner(name: string, person = anna) {
  const signed = await signUp(auditContextOf(person), person, name);
  if (signed.outcome !== 'signed_up') throw new Error(signed.outcome);
  return signed.partner;
}

/** As in the bot: the actor of an audit record is the person. */
const auditContextOf = ({ userId }: typeof anna) => ({ ...audit, actor: `telegram:${userId}` });

const auditOf = async (subject: string) =>
  (await pool.query('SELECT action FROM audit WHERE subject = $1 ORDER BY id', [subject])).rows.map(
    ({ action }) => action,
  );

test('a person who signs up owns a partner with test keys at once and live keys when approved', async () => {
  const { partnerId, liveApproved } = await newPartner('Tea');
  expect(liveApproved).toBe(false);
  const wanted = { partnerId, allowedAddresses: [] };
  expect((await createKey(audit, keyring, { ...wanted, mode: 'test' })).outcome).toBe('created');
  expect(await createKey(audit, keyring, { ...wanted, mode: 'live' })).toEqual({ outcome: 'not_approved' });
  expect(await refuseLive(audit, partnerId)).toMatchObject({ outcome: 'done' });
  expect(await approveLive(audit, partnerId)).toMatchObject({ outcome: 'done' });
  expect(await approveLive(audit, partnerId)).toMatchObject({ outcome: 'already_approved' });
  expect(await refuseLive(audit, partnerId)).toMatchObject({ outcome: 'already_approved' });
  expect((await findPartner(pool, partnerId))!.liveApproved).toBe(true);
  expect((await createKey(audit, keyring, { ...wanted, mode: 'live' })).outcome).toBe('created');
  expect(await auditOf(partnerId)).toEqual(
    words('partner.create member.join partner.refuse partner.approve'),
  );
});

test('sign-ups per person are limited, also when they are concurrent', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, (_, n) => signUp(auditContextOf(vera), vera, `Shop ${n}`)),
  );
  expect(outcomes.filter(({ outcome }) => outcome === 'signed_up')).toHaveLength(5);
  expect(await listMemberships(pool, vera.userId)).toHaveLength(5);
});

test('an invitation used by several people at once adds one of them', async () => {
  const { partnerId } = await newPartner('Joiners');
  const token = await invite(audit, partnerId, anna.userId, 'developer');
  expect(await acceptInvitation(audit, token, anna)).toMatchObject({ outcome: 'already_member' });
  const outcomes = await Promise.all([boris, vera].map(person => acceptInvitation(audit, token, person)));
  expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['joined', 'no_invitation']);
  expect(await listMembers(pool, partnerId)).toHaveLength(2);
  const { rows } = await pool.query('SELECT hash::text FROM invitations');
  expect(JSON.stringify(rows)).not.toContain(token);
});

async function newCaptains() {
  const { partnerId } = await newPartner('Captains');
  await acceptInvitation(audit, await invite(audit, partnerId, anna.userId, 'owner'), boris);
  const both = <Outcome>(act: (userId: bigint) => Promise<Outcome>) =>
    Promise.all([anna, boris].map(({ userId }) => act(userId)));
  return { partnerId, both };
}

test('there is always an owner, also when two leave at once', async () => {
  const { partnerId, both } = await newCaptains();
  const removals = await both(userId => removeMember(audit, partnerId, userId));
  expect(removals.sort()).toEqual(['last_owner', 'removed']);
  expect(await removeMember(audit, partnerId, 1n)).toBe('no_member');
});

test('there is always an owner, also when two are demoted at once', async () => {
  const { partnerId, both } = await newCaptains();
  const changes = await both(userId => changeRole(audit, partnerId, userId, 'viewer'));
  expect(changes.sort()).toEqual(['changed', 'last_owner']);
  expect(await changeRole(audit, partnerId, 1n, 'owner')).toBe('no_member');
  const [owner] = await listMembers(pool, partnerId);
  expect(await changeRole(audit, partnerId, owner!.userId, 'owner')).toBe('same_role');
  expect((await auditOf(partnerId)).filter(action => action === 'member.role')).toHaveLength(1);
});

test('the test balance is refilled once a day', async () => {
  const { partnerId } = await newPartner('Refill');
  const both = await Promise.all([refillTestBalance(audit, partnerId), refillTestBalance(audit, partnerId)]);
  expect(both.sort()).toEqual(['not_again_today', 'refilled']);
  clock.advance(24 * 3_600_000);
  expect(await refillTestBalance(audit, partnerId)).toBe('refilled');
});
