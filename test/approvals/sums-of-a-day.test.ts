import { describe, expect, test } from 'vitest';
import { submitRelease } from '../../src/approvals/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { createOperator } from '../../src/operators/index.ts';
import { releaseStray } from '../../src/payments/index.ts';
import { auditContextOf, createFundedPartner } from '../helpers/database.ts';
import { keyring } from '../helpers/partners.ts';
import { insertOperator, openInReview } from '../helpers/review.ts';
import { createApprovalsWorld, idOf, type Operator } from './approvals-world.ts';

const world = await createApprovalsWorld();
const { pool, at, partnerId, second, approve, statusOf } = world;

const tomorrow = { ...systemClock, nowMs: () => systemClock.nowMs() + 86_400_000 };
let count = 0;

async function createdBy(one: Operator): Promise<Operator> {
  const name = `account-${++count}`;
  const made = await createOperator(at(one), keyring, { name, role: 'finance' });
  if (made.outcome !== 'created') throw new Error(made.outcome);
  return { operatorId: made.operator.operatorId, name };
}

const outcomesOf = async (submitted: Promise<{ outcome: string }>[]) =>
  (await Promise.all(submitted)).map(({ outcome }) => outcome).sort();

describe('credits without approval', () => {
  const credit = (operator: Operator, to: Id<'prt'>, microUsdt: bigint, clock = systemClock) =>
    world.credit(operator, { partnerId: to, microUsdt, reference: `credit ${++count}` }, clock);

  test('credits to several partners by one operator count together', async () => {
    const one = await insertOperator(pool, 'admin');
    const partners = [partnerId];
    while (partners.length < 4) partners.push(await createFundedPartner(pool, 1n));
    const outcomes = await outcomesOf(partners.map(to => credit(one, to, 500_000_000n)));
    expect(outcomes).toEqual(['done', 'done', 'waiting', 'waiting']);
    for (const to of partners) expect(await credit(one, to, 1n)).toMatchObject({ outcome: 'waiting' });
    expect(await credit(await createdBy(one), partnerId, 1n)).toMatchObject({ outcome: 'waiting' });
    expect(await credit(second, partners[1]!, 500_000_000n)).toEqual({ outcome: 'done' });
    expect(await credit(one, partners[1]!, 1n, tomorrow)).toEqual({ outcome: 'done' });
  });
});

describe('decisions without approval', () => {
  const decide = (operator: Operator, paymentId: Id<'pay'>, clock = systemClock) =>
    world.decide(operator, paymentId, { outcome: 'failed' }, clock);
  const open = (amountKopecks: bigint, mode: 'live' | 'test' = 'live') =>
    openInReview(pool, partnerId, { amountKopecks, mode });

  test('decisions on several payments by one person count together', async () => {
    const one = await insertOperator(pool, 'admin');
    const accounts = [one, one, await createdBy(one), await createdBy(one)];
    const payments = await Promise.all(accounts.map(() => open(500_000n)));
    const outcomes = await outcomesOf(accounts.map((account, index) => decide(account, payments[index]!)));
    expect(outcomes).toEqual(['done', 'done', 'waiting', 'waiting']);
    const statuses = await Promise.all(payments.map(statusOf));
    expect(statuses.sort()).toEqual(['failed', 'failed', 'processing', 'processing']);
    expect(await decide(second, await open(1_000_000n))).toEqual({ outcome: 'done' });
    expect(await decide(one, await open(1n), tomorrow)).toEqual({ outcome: 'done' });
  });

  test('releasing an order without a payment counts like a decision', async () => {
    const one = await insertOperator(pool, 'support');
    const puppet = await createdBy(one);
    const other = await insertOperator(pool, 'support');
    await pool.query(
      `INSERT INTO incarnations (number, system_identifier, timeline, cause, began_at, certain_at, is_synchronous,
                                 last_event_id, next_event_id, opened_at)
       VALUES (1, '1', 1, 'first_start', now(), now(), false, 0, 1, now())`,
    );
    for (const [order, amount] of [
      ['large', 1_000_001],
      ['half', 500_000],
      ['more', 500_001],
    ])
      await pool.query(
        `INSERT INTO stray_orders (payment, order_id, state, amount_kopecks, created_at, qrc_id, why, incarnation, found_at)
         VALUES ($1, $1, 'succeeded', $2, now(), $1, 'unreadable', 1, now())`,
        [order, amount],
      );
    const release = (operator: Operator, order: string) =>
      submitRelease(at(operator), operator, order, 'known to the shop');
    const waits = async () =>
      (await pool.query('SELECT payment FROM stray_orders WHERE released_at IS NULL ORDER BY 1')).rows.map(
        row => row.payment,
      );

    const large = idOf(await release(one, 'large'));
    expect(await release(other, 'large')).toMatchObject({ outcome: 'already_waiting' });
    expect(await waits()).toEqual(['half', 'large', 'more']);
    expect(await release(one, 'half')).toEqual({ outcome: 'done' });
    const more = idOf(await release(puppet, 'more'));
    expect(await decide(one, await open(500_001n))).toMatchObject({ outcome: 'waiting' });
    expect(await waits()).toEqual(['large', 'more']);

    await pool.query(`UPDATE operators SET password_hash = 'set' WHERE name = $1`, [puppet.name]);
    expect(await approve(puppet, large)).toEqual({ outcome: 'shared_enrolment' });
    expect(await approve(other, large)).toEqual({ outcome: 'done' });
    await releaseStray(auditContextOf(pool), 'more', 'on the command line');
    expect(await approve(other, more)).toEqual({ outcome: 'void', why: 'no_order' });
    expect(await release(one, 'large')).toEqual({ outcome: 'no_order' });
    expect(await waits()).toEqual([]);
  });

  test('what a second operator approved does not count', async () => {
    const [one, other] = [await insertOperator(pool, 'support'), await insertOperator(pool, 'support')];
    const asked = idOf(await decide(one, await open(5_000_000n)));
    expect(await approve(other, asked)).toEqual({ outcome: 'done' });
    for (const operator of [one, other])
      expect(await decide(operator, await open(1_000_000n))).toEqual({ outcome: 'done' });
  });
});
