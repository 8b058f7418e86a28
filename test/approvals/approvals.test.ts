import { describe, expect, test } from 'vitest';
import { listRequests, refuseRequest, withdrawRequest } from '../../src/approvals/index.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { decidePayment } from '../../src/payments/index.ts';
import { auditContextOf } from '../helpers/database.ts';
import { insertOperator, openInReview } from '../helpers/review.ts';
import { createApprovalsWorld, idOf } from './approvals-world.ts';

const { pool, sql, at, partnerId, requester, second, third, statusOf, stateOf, auditOf, approve, decide } =
  await createApprovalsWorld();

const large = 5_000_000n;
const [done, own] = [{ outcome: 'done' }, { outcome: 'own_request' }];
async function ask(operator = requester, amountKopecks = large) {
  const paymentId = await openInReview(pool, partnerId, { amountKopecks });
  return { paymentId, requestId: idOf(await decide(operator, paymentId)) };
}

describe('deciding on a payment', () => {
  test('up to the threshold one operator decides at once', async () => {
    const paymentId = await openInReview(pool, partnerId, { amountKopecks: 1_000_000n });
    expect(await decide(requester, paymentId)).toEqual(done);
    expect(await statusOf(paymentId)).toBe('succeeded');
    expect(await auditOf(paymentId)).toMatchObject([
      {
        actor: `operator:${requester.name}`,
        action: 'payment.resolve',
        after: { reason: 'the bank says so' },
      },
    ]);
  });

  test('above it nothing happens until a second operator approves, and the audit has both', async () => {
    const { paymentId, requestId } = await ask();
    expect(await statusOf(paymentId)).toBe('processing');
    expect(await approve(second, requestId)).toEqual(done);
    expect(await statusOf(paymentId)).toBe('succeeded');
    expect(await stateOf(requestId)).toBe('approved');
    expect(await auditOf(paymentId)).toMatchObject([
      { actor: `operator:${requester.name}`, action: 'request.ask' },
      {
        actor: `operator:${second.name}`,
        action: 'payment.resolve',
        after: { status: 'succeeded', reason: 'the bank says so', asked_by: requester.name },
      },
      {
        actor: `operator:${second.name}`,
        action: 'request.approve',
        before: { asked_by: requester.name },
        after: { decided_by: second.name },
      },
    ]);
  });

  test('requester is not approver: neither renamed nor created again under the same name', async () => {
    const { paymentId, requestId } = await ask();
    expect(await approve(requester, requestId)).toEqual(own);
    expect(await approve({ ...requester, name: 'renamed' }, requestId)).toEqual(own);
    const operatorId = (await insertOperator(pool, 'finance')).operatorId;
    expect(await approve({ operatorId, name: requester.name }, requestId)).toEqual(own);
    expect(await refuseRequest(at(requester), requester, requestId)).toEqual(own);
    expect(await statusOf(paymentId)).toBe('processing');
    expect(await stateOf(requestId)).toBe('waiting');
  });

  test('the database itself refuses an approval by the requester', async () => {
    const { requestId } = await ask();
    await expect(
      pool.query(
        `UPDATE operator_requests SET state = 'approved', decided_by = asked_by, decided_name = 'x', decided_at = now()
          WHERE id = $1`,
        [uuidFromId(requestId)],
      ),
    ).rejects.toThrow('requests_are_approved_by_another');
  });

  test('approving needs the permission at that moment', async () => {
    const { paymentId, requestId } = await ask();
    const disabled = await insertOperator(pool, 'finance');
    const invited = await insertOperator(pool, 'finance');
    await pool.query('UPDATE operators SET disabled_at = now() WHERE name = $1', [disabled.name]);
    await pool.query('UPDATE operators SET password_hash = NULL WHERE name = $1', [invited.name]);
    for (const unauthorized of [disabled, invited, await insertOperator(pool, 'viewer')])
      expect(await approve(unauthorized, requestId)).toEqual({ outcome: 'forbidden' });
    expect(await statusOf(paymentId)).toBe('processing');
    expect(await stateOf(requestId)).toBe('waiting');
  });

  test('one transaction: the action is rolled back when the decision fails', async () => {
    const { paymentId, requestId } = await ask();
    await sql`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a crash'; END $$`;
    await pool.query('CREATE TRIGGER fails BEFORE UPDATE ON operator_requests EXECUTE FUNCTION fail()');
    await expect(approve(second, requestId)).rejects.toThrow('a crash');
    await pool.query('DROP TRIGGER fails ON operator_requests');
    expect(await statusOf(paymentId)).toBe('processing');
    expect(await stateOf(requestId)).toBe('waiting');
    expect(await approve(second, requestId)).toEqual(done);
  });

  test('decided once: of several decisions at the same time one counts', async () => {
    for (let round = 0; round < 8; round++) {
      const { paymentId, requestId } = await ask();
      const decisions = await Promise.all([
        approve(second, requestId),
        approve(third, requestId),
        approve(second, requestId),
        refuseRequest(at(third), third, requestId),
        withdrawRequest(at(requester), requester, requestId),
      ]);
      const outcomes = decisions.map(({ outcome }) => outcome).sort();
      expect(outcomes).toEqual([...Array(4).fill('already_decided'), 'done']);
      const state = await stateOf(requestId);
      expect(await statusOf(paymentId)).toBe(state === 'approved' ? 'succeeded' : 'processing');
      const settled =
        await sql`SELECT FROM entries WHERE payment_id = ${uuidFromId(paymentId)} AND from_account = 'held'`;
      expect(settled).toHaveLength(state === 'approved' ? 1 : 0);
    }
  });

  test('two decisions at once below the threshold: one takes effect', async () => {
    const paymentId = await openInReview(pool, partnerId, { amountKopecks: 1_000n });
    const [one, other] = [await insertOperator(pool, 'finance'), await insertOperator(pool, 'finance')];
    const outcomes = await Promise.all([
      decide(one, paymentId),
      decide(other, paymentId, { outcome: 'failed' }),
    ]);
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['already_ended', 'done']);
  });

  test('one request waits per payment, however many are submitted at once', async () => {
    // Several rounds: if they took their locks in different orders, some would deadlock.
    for (let round = 0; round < 8; round++) {
      const paymentId = await openInReview(pool, partnerId, { amountKopecks: large });
      const operators = [requester, second, third, requester, second];
      const asked = await Promise.all(operators.map(operator => decide(operator, paymentId)));
      const outcomes = asked.map(({ outcome }) => outcome).sort();
      expect(outcomes).toEqual([...Array(4).fill('already_waiting'), 'waiting']);
      expect(await listRequests(pool, { state: 'waiting', subjects: [paymentId] })).toHaveLength(1);
    }
  });

  test('a payment that has ended meanwhile: the request is void and changes nothing', async () => {
    const { paymentId, requestId } = await ask();
    await decidePayment(auditContextOf(pool), paymentId, { outcome: 'failed', reason: 'the bank called' });
    expect(await approve(second, requestId)).toEqual({ outcome: 'void', why: 'already_ended' });
    expect(await statusOf(paymentId)).toBe('failed');
    expect(await stateOf(requestId)).toBe('void');
    expect(await approve(second, requestId)).toEqual({ outcome: 'already_decided', state: 'void' });
  });

  test('a payment that is being polled: refused, and the request stays open', async () => {
    const { paymentId, requestId } = await ask();
    const setHolder = (holder: number | null) =>
      sql`UPDATE open_payments SET lease_holder = ${holder} WHERE payment_id = ${uuidFromId(paymentId)}`;
    await setHolder(77);
    expect(await approve(second, requestId)).toEqual({ outcome: 'under_way' });
    expect(await stateOf(requestId)).toBe('waiting');
    await setHolder(null);
    expect(await approve(second, requestId)).toEqual(done);
  });

  test('a decision based on an outdated page is stale; an unknown payment is not found', async () => {
    const paymentId = await openInReview(pool, partnerId);
    const seen = { expectedStatusDetail: 'awaiting_gateway' };
    expect(await decide(requester, paymentId, seen)).toEqual({ outcome: 'stale' });
    expect(await statusOf(paymentId)).toBe('processing');
    const nothing = 'pay_01h00000000000000000000000';
    expect(await decide(requester, nothing)).toEqual({ outcome: 'no_payment' });
  });

  test('after a refusal or a withdrawal a new request can be submitted', async () => {
    const { paymentId, requestId } = await ask();
    expect(await withdrawRequest(at(second), second, requestId)).toEqual({ outcome: 'not_own_request' });
    expect(await refuseRequest(at(second), second, requestId)).toEqual(done);
    expect(await approve(third, requestId)).toEqual({ outcome: 'already_decided', state: 'refused' });
    const again = await decide(second, paymentId);
    expect(await withdrawRequest(at(second), second, idOf(again))).toEqual(done);
    expect(await statusOf(paymentId)).toBe('processing');
  });

  test('an approval races with the end of the payment: one takes effect', async () => {
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
