import { type Id, uuidFromId } from '../base/ids.ts';
import { type Queryable, readRow } from '../db/postgres/index.ts';
import { type Approval, approvalColumn } from './search.ts';

/** `pending`: an operator decides about it. */
type StepState = 'done' | 'open' | 'pending' | 'refused';

interface StepsRow {
  testKey: boolean;
  payment: boolean;
  webhookCheck: boolean;
  topUp: boolean;
  approval: Approval;
}

const stateOfApproval: Record<Approval, StepState> = {
  approved: 'done',
  asked: 'pending',
  not_approved: 'refused',
};

/**
 * What a new partner does until it pays with its own money, in this order. Nothing is stored for it: balances, keys and the audit log
 * say what was done. The sum of all payments stays when test payments are deleted; only
 * refunds lower it.
 */
export async function readFirstSteps(db: Queryable, partnerId: Id<'prt'>) {
  const row = await readRow<StepsRow>(db, {
    text: `SELECT ${approvalColumn},
                  EXISTS (SELECT FROM api_keys k WHERE k.partner_id = p.id AND k.mode = 'test') AS "testKey",
                  EXISTS (SELECT FROM accounts a WHERE a.partner_id = p.id AND a.settled > 0)
                    OR EXISTS (SELECT FROM refunds r WHERE r.partner_id = p.id) AS payment,
                  EXISTS (SELECT FROM endpoints w WHERE w.partner_id = p.id)
                    AND EXISTS (SELECT FROM audit u WHERE u.subject = $2 AND u.action = 'webhook.check'
                                   AND u.after ->> 'passed' = 'true') AS "webhookCheck",
                  EXISTS (SELECT FROM accounts a WHERE a.partner_id = p.id AND a.mode = 'live' AND a.topup < 0) AS "topUp"
             FROM partners p WHERE p.id = $1`,
    values: [uuidFromId(partnerId), partnerId],
  });
  const stateOf = (isDone: boolean): StepState => (isDone ? 'done' : 'open');
  return [
    { step: 'test_key', state: stateOf(row.testKey) },
    { step: 'payment', state: stateOf(row.payment) },
    { step: 'webhook_check', state: stateOf(row.webhookCheck) },
    { step: 'live_approval', state: stateOfApproval[row.approval] },
    { step: 'top_up', state: stateOf(row.topUp) },
  ] as const;
}
