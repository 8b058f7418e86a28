import { afterAll, describe, expect, test } from 'vitest';
import { askResolve, listRequests, refuseRequest, withdrawRequest } from '../../src/approvals/index.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createOperator, resetOperator } from '../../src/operators/index.ts';
import { decidePayment } from '../../src/payments/index.ts';
import { secretKey } from '../helpers/customers.ts';
import { auditContextOf } from '../helpers/database.ts';
import { hireOperator, openInReview } from '../helpers/review.ts';
import { createApprovalsWorld, type Operator } from './approvals-world.ts';

const { pool, at, partnerId, asker, second, third, statusOf, stateOf, auditOf, approve } =
  await createApprovalsWorld();

const large = 5_000_000n;
const word = {
  outcome: 'succeeded',
  reason: 'the bank says so',
  expectedStatusDetail: 'manual_review',
} as const;

async function ask(operator = asker, amountKopecks = large) {
  const paymentId = await openInReview(pool, partnerId, { amountKopecks });
  const asked = await askResolve(at(operator), operator, paymentId, word);
  if (asked.outcome !== 'waiting') throw new Error(asked.outcome);
  return { paymentId, requestId: asked.request.requestId };
}

describe('resolving a payment', () => {
  test('up to the threshold one person does it at once', async () => {
    const paymentId = await openInReview(pool, partnerId, { amountKopecks: 1_000_000n });
    expect(await askResolve(at(asker), asker, paymentId, word)).toEqual({ outcome: 'done' });
    expect(await statusOf(paymentId)).toBe('succeeded');
    expect(await auditOf(paymentId)).toMatchObject([
      { actor: `operator:${asker.name}`, action: 'payment.resolve', after: { reason: 'the bank says so' } },
    ]);
  });

  test('above it nothing happens until another approves, and both stand on record', async () => {
    const { paymentId, requestId } = await ask();
    expect(await statusOf(paymentId)).toBe('processing');
    expect(await approve(second, requestId)).toEqual({ outcome: 'done' });
    expect(await statusOf(paymentId)).toBe('succeeded');
    expect(await stateOf(requestId)).toBe('approved');
    expect(await auditOf(paymentId)).toMatchObject([
      { actor: `operator:${asker.name}`, action: 'request.ask' },
      {
        actor: `operator:${second.name}`,
        action: 'payment.resolve',
        after: { status: 'succeeded', reason: 'the bank says so', asked_by: asker.name },
      },
      {
        actor: `operator:${second.name}`,
        action: 'request.approve',
        before: { asked_by: asker.name },
        after: { decided_by: second.name },
      },
    ]);
  });

  test('asker is not approver: not under another name, nor made anew under the same', async () => {
    const { paymentId, requestId } = await ask();
    expect(await approve(asker, requestId)).toEqual({ outcome: 'own_request' });
    expect(await approve({ ...asker, name: 'renamed' }, requestId)).toEqual({ outcome: 'own_request' });
    const operatorId = (await hireOperator(pool, 'finance')).operatorId;
    expect(await approve({ operatorId, name: asker.name }, requestId)).toEqual({ outcome: 'own_request' });
    expect(await refuseRequest(at(asker), asker, requestId)).toEqual({ outcome: 'own_request' });
    expect(await statusOf(paymentId)).toBe('processing');
    expect(await stateOf(requestId)).toBe('waiting');
  });

  test('whoever has issued the access of the approver, directly or through others, is no second person', async () => {
    const boss = await hireOperator(pool, 'admin');
    const letIn = async (by: Operator, name: string): Promise<Operator> => {
      const made = await createOperator(at(by), secretKey, { name, role: 'admin' });
      if (made.outcome !== 'created') throw new Error(made.outcome);
      const { operatorId } = made.operator;
      await pool.query(`UPDATE operators SET password_hash = 'set' WHERE id = $1`, [uuidFromId(operatorId)]);
      return { operatorId, name };
    };
    const puppet = await letIn(boss, 'puppet');
    const puppetOfPuppet = await letIn(puppet, 'puppet-of-puppet');
    const { paymentId, requestId } = await ask(boss);
    for (const one of [puppet, puppetOfPuppet])
      expect(await approve(one, requestId)).toEqual({ outcome: 'let_in_by_asker' });
    expect(await statusOf(paymentId)).toBe('processing');
    // A colleague whose access was reset by the asker; and the other way round there is nothing to say against it.
    const colleague = await letIn(second, 'colleague');
    await resetOperator(at(boss), secretKey, colleague.operatorId, { allowLastAdmin: false });
    await pool.query(`UPDATE operators SET password_hash = 'set' WHERE name = 'colleague'`);
    expect(await approve(colleague, requestId)).toEqual({ outcome: 'let_in_by_asker' });
    expect(await approve(second, requestId)).toEqual({ outcome: 'done' });
    expect(await approve(boss, (await ask(puppet)).requestId)).toEqual({ outcome: 'done' });
  });

  test('the database itself refuses an approval by whoever asked', async () => {
    const { requestId } = await ask();
    await expect(
      pool.query(
        `UPDATE operator_requests SET state = 'approved', decided_by = asked_by, decided_name = 'x', decided_at = now()
          WHERE id = $1`,
        [uuidFromId(requestId)],
      ),
    ).rejects.toThrow('requests_are_approved_by_another');
  });

  test('nobody approves who has lost the right, or has never had it', async () => {
    const { paymentId, requestId } = await ask();
    const disabled = await hireOperator(pool, 'finance');
    await pool.query('UPDATE operators SET disabled_at = now() WHERE id = $1', [
      uuidFromId(disabled.operatorId),
    ]);
    const invited = await hireOperator(pool, 'finance');
    await pool.query('UPDATE operators SET password_hash = NULL WHERE id = $1', [
      uuidFromId(invited.operatorId),
    ]);
    for (const nobody of [disabled, invited, await hireOperator(pool, 'viewer')])
      expect(await approve(nobody, requestId)).toEqual({ outcome: 'forbidden' });
    expect(await statusOf(paymentId)).toBe('processing');
    expect(await stateOf(requestId)).toBe('waiting');
  });

  test('one transaction: an action without its decision does not happen', async () => {
    const { paymentId, requestId } = await ask();
    await pool.query(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a crash'; END $$`,
    );
    await pool.query('CREATE TRIGGER fails BEFORE UPDATE ON operator_requests EXECUTE FUNCTION fail()');
    await expect(approve(second, requestId)).rejects.toThrow('a crash');
    await pool.query('DROP TRIGGER fails ON operator_requests');
    expect(await statusOf(paymentId)).toBe('processing');
    expect(await stateOf(requestId)).toBe('waiting');
    expect(await approve(second, requestId)).toEqual({ outcome: 'done' });
  });

  test('decided once: of many who decide at the same moment one does', async () => {
    for (let round = 0; round < 8; round++) {
      const { paymentId, requestId } = await ask();
      const decisions = await Promise.all([
        approve(second, requestId),
        approve(third, requestId),
        approve(second, requestId),
        refuseRequest(at(third), third, requestId),
        withdrawRequest(at(asker), asker, requestId),
      ]);
      const outcomes = decisions.map(({ outcome }) => outcome).sort();
      expect(outcomes).toEqual([
        'already_decided',
        'already_decided',
        'already_decided',
        'already_decided',
        'done',
      ]);
      const state = await stateOf(requestId);
      expect(await statusOf(paymentId)).toBe(state === 'approved' ? 'succeeded' : 'processing');
      const { rows } = await pool.query(
        `SELECT count(*)::int AS count FROM entries WHERE payment_id = $1 AND from_account = 'held'`,
        [uuidFromId(paymentId)],
      );
      expect(rows[0].count).toBe(state === 'approved' ? 1 : 0);
    }
  });

  test('two at once, alone: one effect and a clear answer', async () => {
    const paymentId = await openInReview(pool, partnerId, { amountKopecks: 1_000n });
    const outcomes = await Promise.all([
      askResolve(at(asker), asker, paymentId, word),
      askResolve(at(second), second, paymentId, { ...word, outcome: 'failed' }),
    ]);
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['already_ended', 'done']);
  });

  test('one waits per payment, whoever asks and however many at once', async () => {
    const paymentId = await openInReview(pool, partnerId, { amountKopecks: large });
    const asked = await Promise.all(
      [asker, second, third, asker].map(operator => askResolve(at(operator), operator, paymentId, word)),
    );
    expect(asked.map(({ outcome }) => outcome).sort()).toEqual([
      'already_waiting',
      'already_waiting',
      'already_waiting',
      'waiting',
    ]);
    expect(await listRequests(pool, { state: 'waiting', subjects: [paymentId] })).toHaveLength(1);
  });

  test('a payment that has ended meanwhile: the request is void, and nothing is done', async () => {
    const { paymentId, requestId } = await ask();
    await decidePayment(auditContextOf(pool), paymentId, { outcome: 'failed', reason: 'the bank called' });
    expect(await approve(second, requestId)).toEqual({ outcome: 'void', why: 'already_ended' });
    expect(await statusOf(paymentId)).toBe('failed');
    expect(await stateOf(requestId)).toBe('void');
    expect(await approve(second, requestId)).toEqual({ outcome: 'already_decided', state: 'void' });
  });

  test('a payment that is being asked about: refused, and the request goes on waiting', async () => {
    const { paymentId, requestId } = await ask();
    await pool.query('UPDATE open_payments SET lease_holder = 77 WHERE payment_id = $1', [
      uuidFromId(paymentId),
    ]);
    expect(await approve(second, requestId)).toEqual({ outcome: 'under_way' });
    expect(await stateOf(requestId)).toBe('waiting');
    await pool.query('UPDATE open_payments SET lease_holder = NULL WHERE payment_id = $1', [
      uuidFromId(paymentId),
    ]);
    expect(await approve(second, requestId)).toEqual({ outcome: 'done' });
  });

  test('a page that shows something else than there is: stale; and what is not there', async () => {
    const paymentId = await openInReview(pool, partnerId);
    const seen = { ...word, expectedStatusDetail: 'awaiting_gateway' };
    expect(await askResolve(at(asker), asker, paymentId, seen)).toEqual({ outcome: 'stale' });
    expect(await statusOf(paymentId)).toBe('processing');
    const nothing = 'pay_01h00000000000000000000000';
    expect(await askResolve(at(asker), asker, nothing, word)).toEqual({ outcome: 'no_payment' });
  });

  test('refused and withdrawn are over, and another may be asked for', async () => {
    const { paymentId, requestId } = await ask();
    expect(await withdrawRequest(at(second), second, requestId)).toEqual({ outcome: 'not_own_request' });
    expect(await refuseRequest(at(second), second, requestId)).toEqual({ outcome: 'done' });
    expect(await approve(third, requestId)).toEqual({ outcome: 'already_decided', state: 'refused' });
    const again = await askResolve(at(second), second, paymentId, word);
    expect(again.outcome).toBe('waiting');
    const { requestId: next } = (again as { request: { requestId: Id<'apr'> } }).request;
    expect(await withdrawRequest(at(second), second, next)).toEqual({ outcome: 'done' });
    expect(await statusOf(paymentId)).toBe('processing');
  });

  test('done alone after the threshold was raised, what waited is void', async () => {
    const { paymentId, requestId } = await ask();
    await pool.query('UPDATE service SET resolve_alone_kopecks = 90000000');
    expect(await askResolve(at(second), second, paymentId, word)).toEqual({ outcome: 'done' });
    await pool.query('UPDATE service SET resolve_alone_kopecks = 1000000');
    expect(await stateOf(requestId)).toBe('void');
  });

  test('a request and its approval race with the end of the payment: one effect', async () => {
    for (let round = 0; round < 6; round++) {
      const { paymentId, requestId } = await ask();
      const [decision, ended] = await Promise.all([
        approve(second, requestId),
        decidePayment(auditContextOf(pool), paymentId, { outcome: 'failed', reason: 'the bank called' }),
      ]);
      const approved = decision.outcome === 'done';
      expect(ended.outcome).toBe(approved ? 'already_ended' : 'resolved');
      expect(await statusOf(paymentId)).toBe(approved ? 'succeeded' : 'failed');
      expect(await stateOf(requestId)).toBe(approved ? 'approved' : 'void');
    }
  });
});

afterAll(async () => {
  expect((await verifyLedger(pool)).findings).toEqual([]);
});
