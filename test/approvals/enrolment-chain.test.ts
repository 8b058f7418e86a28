import { describe, expect, test } from 'vitest';
import { submitRelease, submitThresholds } from '../../src/approvals/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { createOperator, type OperatorRole, resetOperator } from '../../src/operators/index.ts';
import { releaseStray } from '../../src/payments/index.ts';
import { auditContextOf, createFundedPartner, keyring } from '../helpers/database.ts';
import { createRandom } from '../helpers/random.ts';
import { insertOperator, openInReview } from '../helpers/review.ts';
import { createApprovalsWorld, idOf, type Operator } from './approvals-world.ts';

const world = await createApprovalsWorld();
const { pool, sql, at, partnerId, second, approve, credit, decide, statusOf } = world;

const partners = [partnerId, await createFundedPartner(pool, 1n)];
const commandLine = auditContextOf(pool);
let count = 0;

/** Sets the password as somebody with the setup link would. */
const enrolFor = (operatorId: Operator['operatorId']) =>
  pool.query(`UPDATE operators SET password_hash = 'set' WHERE id = $1`, [uuidFromId(operatorId)]);

/** Created by an operator, or on the command line. */
async function create(by?: Operator, role: OperatorRole = 'admin'): Promise<Operator> {
  const name = `chained-${++count}`;
  const made = await createOperator(by ? at(by) : commandLine, keyring, { name, role });
  if (made.outcome !== 'created') throw new Error(made.outcome);
  const { operatorId } = made.operator;
  await enrolFor(operatorId);
  return { operatorId, name };
}

async function reset(one: Operator, by?: Operator): Promise<void> {
  const done = await resetOperator(by ? at(by) : commandLine, keyring, one.operatorId, {
    allowLastAdmin: true,
  });
  expect(done.outcome).toBe('reset');
  await enrolFor(one.operatorId);
}

const askForCredit = async (operator: Operator) =>
  idOf(await credit(operator, { microUsdt: 1_700_000_000_000n, reference: `credit ${++count}` }));

/** More than half of what one person may credit without approval. */
const creditSmall = (operator: Operator, to = partnerId) =>
  credit(operator, { partnerId: to, microUsdt: 600_000_000n, reference: `small ${++count}` });

const shared = { outcome: 'shared_enrolment' };
const done = { outcome: 'done' };

describe('four eyes are two people', () => {
  test('one admin cannot credit alone, with any of their accounts as requester and approver', async () => {
    const one = await create();
    const puppet = await create(one);
    const other = await create(one);
    const puppetOfPuppet = await create(puppet);
    for (const [requester, approver] of [
      [one, puppet],
      [puppet, one],
      [puppet, other],
      [other, puppetOfPuppet],
      [puppetOfPuppet, one],
      [one, puppetOfPuppet],
    ] as const)
      expect(await approve(approver, await askForCredit(requester))).toEqual(shared);
    const independent = await create();
    expect(await approve(independent, await askForCredit(puppetOfPuppet))).toEqual(done);
    expect(await approve(puppetOfPuppet, await askForCredit(independent))).toEqual(done);
  });

  test('who resets an operator could act as them', async () => {
    const [one, victim, third] = [await create(), await create(), await create()];
    expect(await approve(victim, await askForCredit(one))).toEqual(done);
    await reset(victim, one);
    expect(await approve(victim, await askForCredit(one))).toEqual(shared);
    expect(await approve(one, await askForCredit(victim))).toEqual(shared);
    expect(await approve(victim, await askForCredit(third))).toEqual(done);
    // One who was reset on the command line was still created, or reset before, by the other.
    await reset(victim);
    expect(await approve(victim, await askForCredit(one))).toEqual(shared);
  });

  test('the same for payments and thresholds', async () => {
    const one = await create();
    const puppet = await create(one);
    const paymentId = await openInReview(pool, partnerId, { amountKopecks: 5_000_000n });
    const thresholds = { decisionKopecks: 10n ** 9n, creditMicroUsdt: 10n ** 15n, expectedVersion: 1 };
    for (const asked of [
      await decide(puppet, paymentId, { outcome: 'failed' }),
      await submitThresholds(at(puppet), puppet, thresholds),
    ])
      expect(await approve(one, idOf(asked))).toEqual(shared);
  });

  test('small credits of operators who may be one person count as one large one', async () => {
    const one = await create();
    const accounts = [one, await create(one), await create(one)];
    const outcomes = await Promise.all(accounts.map(one => creditSmall(one)));
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['done', 'waiting', 'waiting']);
    expect(await creditSmall(await create())).toEqual(done);
  });

  test.each([1, 2, 3, 4, 5, 6])('random chains of enrolment, reset and requests (%i)', async seed => {
    const random = createRandom(seed);
    const operators = [await create(), await create(), await create()];
    const issuers = new Map<string, Operator[]>(operators.map(({ name }) => [name, []]));

    /** Everybody who could act as this operator: from the definition, step by step. */
    function couldActAs(operator: Operator, known = new Set<string>()): Set<string> {
      if (known.has(operator.name)) return known;
      known.add(operator.name);
      for (const issuer of issuers.get(operator.name)!) couldActAs(issuer, known);
      return known;
    }

    const areRelated = (one: Operator, other: Operator) => {
      const people = couldActAs(one);
      return [...couldActAs(other)].some(name => people.has(name));
    };
    const creditedAlone: Operator[] = [];

    for (let step = 0; step < 40; step++) {
      const by = random.chance(0.2) ? undefined : random.pick(operators);
      if (random.chance(0.25)) {
        const made = await create(by);
        operators.push(made);
        issuers.set(made.name, by ? [by] : []);
      } else if (random.chance(0.2)) {
        const one = random.pick(operators);
        await reset(one, by);
        if (by) issuers.get(one.name)!.push(by);
      } else if (random.chance(0.3)) {
        const operator = random.pick(operators);
        const before = creditedAlone.filter(one => areRelated(one, operator)).length;
        const { outcome } = await creditSmall(operator, random.pick(partners));
        expect(outcome).toBe(before === 0 ? 'done' : 'waiting');
        if (outcome === 'done') creditedAlone.push(operator);
      } else {
        const [requester, approver] = random.shuffle([...operators]) as [Operator, Operator];
        const expected = areRelated(requester, approver) ? shared : done;
        expect(await approve(approver, await askForCredit(requester))).toEqual(expected);
      }
    }
  });
});

const tomorrow = { ...systemClock, nowMs: () => systemClock.nowMs() + 86_400_000 };
const createdBy = (one: Operator) => create(one, 'finance');

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
    expect(await credit(second, partners[1]!, 500_000_000n)).toEqual(done);
    expect(await credit(one, partners[1]!, 1n, tomorrow)).toEqual(done);
  });
});

describe('decisions without approval', () => {
  const decide = (operator: Operator, paymentId: Id<'pay'>, clock = systemClock) =>
    world.decide(operator, paymentId, { outcome: 'failed' }, clock);
  const open = (amountKopecks: bigint) => openInReview(pool, partnerId, { amountKopecks });

  test('decisions on several payments by one person count together', async () => {
    const one = await insertOperator(pool, 'admin');
    const accounts = [one, one, await createdBy(one), await createdBy(one)];
    const payments = await Promise.all(accounts.map(() => open(500_000n)));
    const outcomes = await outcomesOf(accounts.map((account, index) => decide(account, payments[index]!)));
    expect(outcomes).toEqual(['done', 'done', 'waiting', 'waiting']);
    const statuses = await Promise.all(payments.map(statusOf));
    expect(statuses.sort()).toEqual(['failed', 'failed', 'processing', 'processing']);
    expect(await decide(second, await open(1_000_000n))).toEqual(done);
    expect(await decide(one, await open(1n), tomorrow)).toEqual(done);
  });

  test('releasing an order without a payment counts like a decision', async () => {
    const one = await insertOperator(pool, 'support');
    const puppet = await createdBy(one);
    const other = await insertOperator(pool, 'support');
    await sql`INSERT INTO incarnations (number, system_identifier, timeline, cause, began_at, certain_at, is_synchronous,
                                 last_event_id, next_event_id, opened_at)
       VALUES (1, '1', 1, 'first_start', now(), now(), false, 0, 1, now())`;
    await sql`
      INSERT INTO stray_orders (payment, order_id, state, amount_kopecks, created_at, qrc_id, why, incarnation, found_at)
      SELECT name, name, 'succeeded', amount, now(), name, 'unreadable', 1, now()
        FROM (VALUES ('large', 1000001), ('half', 500000), ('more', 500001)) AS o (name, amount)`;
    const release = (operator: Operator, order: string) =>
      submitRelease(at(operator), operator, order, 'known to the shop');
    const waits = async () => {
      const rows = await sql`SELECT payment FROM stray_orders WHERE released_at IS NULL ORDER BY 1`;
      return rows.map(({ payment }) => payment);
    };

    const large = idOf(await release(one, 'large'));
    expect(await release(other, 'large')).toMatchObject({ outcome: 'already_waiting' });
    expect(await waits()).toEqual(['half', 'large', 'more']);
    expect(await release(one, 'half')).toEqual(done);
    const more = idOf(await release(puppet, 'more'));
    expect(await decide(one, await open(500_001n))).toMatchObject({ outcome: 'waiting' });
    expect(await waits()).toEqual(['large', 'more']);

    expect(await approve(puppet, large)).toEqual(shared);
    expect(await approve(other, large)).toEqual(done);
    await releaseStray(auditContextOf(pool), 'more', 'on the command line');
    expect(await approve(other, more)).toEqual({ outcome: 'void', why: 'no_order' });
    expect(await release(one, 'large')).toEqual({ outcome: 'no_order' });
    expect(await waits()).toEqual([]);
  });

  test('what a second operator approved does not count', async () => {
    const [one, other] = [await insertOperator(pool, 'support'), await insertOperator(pool, 'support')];
    const asked = idOf(await decide(one, await open(5_000_000n)));
    expect(await approve(other, asked)).toEqual(done);
    for (const operator of [one, other]) expect(await decide(operator, await open(1_000_000n))).toEqual(done);
  });
});
