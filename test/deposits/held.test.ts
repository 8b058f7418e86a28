import { test as base, expect } from 'vitest';
import { clearAlarm, listAlarms } from '../../src/alarms/index.ts';
import {
  approveRequest,
  refuseRequest,
  submitCredit,
  submitDepositDecision,
} from '../../src/approvals/index.ts';
import { type Id, idFromUuid, uuidFromId } from '../../src/base/ids.ts';
import { transaction } from '../../src/db/postgres/pool.ts';
import { decideDeposit } from '../../src/deposits/index.ts';
import { credit, verifyLedger } from '../../src/ledger/index.ts';
import { inRussian } from '../../web/src/texts/server-sentences.ts';
import { endOfTime } from '../helpers/clock.ts';
import { auditContextOf } from '../helpers/database.ts';
import { insertOperator } from '../helpers/review.ts';
import { startDepositWorld, usdt } from './world.ts';

const world = await startDepositWorld({ isScreened: true });
const { pool, sql, clock } = world;
const [one, other] = [await insertOperator(pool, 'finance'), await insertOperator(pool, 'finance')];
const at = ({ name }: typeof one) => ({ pool, clock, actor: `operator:${name}` });

/** A deposit that the screening service holds. */
async function hold(units: bigint) {
  const { partnerId, account } = await world.newPartner();
  const { transactions } = world.chain.mine([{ to: account, units }]);
  await world.settle();
  await world.screen(async () => 'hold');
  const { hash } = transactions[0]!;
  const rows = await sql`SELECT id FROM deposits WHERE transaction = ${hash}`;
  const depositId = idFromUuid('dep', rows[0].id);
  return {
    partnerId,
    depositId,
    reference: `deposit:ethereum:${hash}:0`,
    balance: () => world.balanceOf(partnerId),
    state: async () => (await sql`SELECT state FROM deposits WHERE id = ${rows[0].id}`)[0].state,
    audit: async () =>
      await sql`SELECT actor, action, after FROM audit WHERE subject = ${depositId} ORDER BY id`,
  };
}

const release = (depositId: Id<'dep'>, operator = one) =>
  submitDepositDecision(at(operator), operator, depositId, { outcome: 'credited', reason: 'checked' });
const reject = (depositId: Id<'dep'>, operator = one) =>
  submitDepositDecision(at(operator), operator, depositId, { outcome: 'rejected', reason: 'sanctions' });
const done = { outcome: 'done' };

/** Amounts up to now count for the operator's day: tests that need a fresh one take a new operator. */
const fresh = () => insertOperator(pool, 'finance');
const test = base.extend('held', () => hold(5n * usdt));

test('a release credits once, with an audit record, and clears the alarm', async ({ held }) => {
  expect(await world.alarmKinds()).toEqual(['deposit_held']);
  expect(await release(held.depositId)).toEqual(done);
  expect(await release(held.depositId)).toEqual({ outcome: 'not_held' });
  expect(await reject(held.depositId)).toEqual({ outcome: 'not_held' });
  expect([await held.state(), await held.balance()]).toEqual(['credited', 5n * usdt]);
  expect(await world.alarmKinds()).toEqual([]);
  expect(await held.audit()).toEqual([
    {
      actor: `operator:${one.name}`,
      action: 'deposit.release',
      after: {
        state: 'credited',
        partner_id: held.partnerId,
        usdt: '5.000000',
        reference: held.reference,
        reason: 'checked',
      },
    },
  ]);
  await world.settle();
  await world.screen(async () => 'allow');
  expect(await held.balance()).toBe(5n * usdt);
  expect(await verifyLedger(pool, { now: endOfTime })).toMatchObject({ findings: [] });
});

test('an alarm that was lost in a crash is raised in the next round, also if the node fails', async () => {
  const held = await hold(5n * usdt);
  const dust = await hold(1n);
  const [alarm] = await listAlarms(pool, { cleared: false });
  await clearAlarm(at(one), alarm!.alarmId);
  expect(await world.alarmKinds()).toEqual([]);
  world.node.interfere = () => ({ status: 503 });
  await world.round();
  expect((await world.alarmKinds()).sort()).toEqual(['deposit_held', 'deposit_node_failing']);
  world.node.interfere = undefined;
  await world.round();
  await world.round();
  const open = await listAlarms(pool, { cleared: false });
  const detail = '5.000000 USDT on Ethereum: held by the screening service. Credit or reject it.';
  expect(open).toMatchObject([{ subject: held.depositId, times: 1, detail }]);
  expect(inRussian(detail)).toBe(
    '5.000000 USDT, сеть Ethereum: задержано сервисом проверки. Зачислите или отклоните пополнение.',
  );
  // Decided on before the process that held it has raised its alarm.
  expect(await reject(held.depositId)).toEqual(done);
  await world.alarms.raise(open[0]!);
  expect(await world.alarmKinds()).toEqual(['deposit_held']);
  await world.round();
  expect(await world.alarmKinds()).toEqual([]);
  expect(await dust.state()).toBe('held');
});

test('of decisions at once the first one counts', async ({ held }) => {
  const wanted = ['credited', 'rejected', 'credited', 'rejected'] as const;
  const outcomes = await Promise.all(
    wanted.map(outcome =>
      decideDeposit(auditContextOf(pool, clock), held.depositId, { outcome, reason: 'at once' }),
    ),
  );
  expect(outcomes.sort()).toEqual(['done', 'not_held', 'not_held', 'not_held']);
  expect(await held.balance()).toBe((await held.state()) === 'credited' ? 5n * usdt : 0n);
  expect(await held.audit()).toHaveLength(1);
});

test('a rejection never credits, and keeps its reason', async ({ held }) => {
  expect(await reject(held.depositId)).toEqual(done);
  expect(await release(held.depositId)).toEqual({ outcome: 'not_held' });
  await world.settle();
  await world.screen(async () => 'allow');
  expect([await held.state(), await held.balance()]).toEqual(['rejected', 0n]);
  expect(
    await sql`SELECT decision_reason FROM deposits WHERE partner_id = ${uuidFromId(held.partnerId)}`,
  ).toEqual([{ decision_reason: 'sanctions' }]);
  expect(await world.alarmKinds()).toEqual([]);
});

test('above the threshold a second operator approves, or refuses', async () => {
  const held = await hold(2_000n * usdt);
  const asked = await release(held.depositId);
  if (asked.outcome !== 'waiting') throw new Error(asked.outcome);
  expect(asked.request).toMatchObject({ kind: 'deposit', microUsdt: 2_000n * usdt, reason: 'checked' });
  expect(await held.balance()).toBe(0n);
  expect(await reject(held.depositId)).toMatchObject({ outcome: 'already_waiting' });
  const { requestId } = asked.request;
  expect(await approveRequest(at(one), one, requestId)).toEqual({ outcome: 'own_request' });
  const support = await insertOperator(pool, 'support');
  expect(await approveRequest(at(support), support, requestId)).toEqual({ outcome: 'forbidden' });
  expect(await approveRequest(at(other), other, requestId)).toEqual(done);
  expect([await held.state(), await held.balance()]).toEqual(['credited', 2_000n * usdt]);
  expect(await held.audit()).toMatchObject([
    { action: 'request.ask' },
    { action: 'deposit.release', after: { asked_by: one.name } },
    { action: 'request.approve' },
  ]);

  const large = await hold(2_000n * usdt);
  const rejection = await reject(large.depositId);
  if (rejection.outcome !== 'waiting') throw new Error(rejection.outcome);
  expect(await refuseRequest(at(other), other, rejection.request.requestId)).toEqual(done);
  expect(await large.state()).toBe('held');
});

test('a request for a deposit that was decided on meanwhile is void', async () => {
  const held = await hold(2_000n * usdt);
  const asked = await release(held.depositId);
  if (asked.outcome !== 'waiting') throw new Error(asked.outcome);
  const decision = { outcome: 'rejected', reason: 'by the command line' } as const;
  expect(await decideDeposit(auditContextOf(pool, clock), held.depositId, decision)).toBe('done');
  expect(await approveRequest(at(other), other, asked.request.requestId)).toEqual({
    outcome: 'void',
    why: 'not_held',
  });
  expect(await held.balance()).toBe(0n);
});

test('releases, rejections and credits of one operator within a day count together', async () => {
  const operator = await fresh();
  const deposits = [await hold(400n * usdt), await hold(400n * usdt), await hold(100n * usdt)];
  expect(await release(deposits[0]!.depositId, operator)).toEqual(done);
  expect(await reject(deposits[1]!.depositId, operator)).toEqual(done);
  const item = { partnerId: deposits[0]!.partnerId, mode: 'live', microUsdt: 150n * usdt } as const;
  expect(await submitCredit(at(operator), operator, { ...item, reference: 'by hand' })).toEqual({
    outcome: 'done',
  });
  expect(await release(deposits[2]!.depositId, operator)).toMatchObject({ outcome: 'waiting' });
});

test('a reference that is in use, an absurd amount and an unknown deposit cannot be released', async () => {
  const used = await hold(5n * usdt);
  const item = { partnerId: used.partnerId, mode: 'live', reference: used.reference } as const;
  await transaction(pool, tx => credit(tx, clock, [{ ...item, microUsdt: 5n * usdt }]));
  const operator = await fresh();
  expect(await release(used.depositId, operator)).toEqual({ outcome: 'reference_used' });
  expect([await used.state(), await used.balance()]).toEqual(['held', 5n * usdt]);
  expect(await reject(used.depositId, operator)).toEqual(done);

  const absurd = await hold(10n ** 16n);
  expect(await release(absurd.depositId, operator)).toEqual({ outcome: 'too_large' });
  expect(await absurd.balance()).toBe(0n);
  expect(await release('dep_01h00000000000000000000000', operator)).toEqual({ outcome: 'no_deposit' });
});
