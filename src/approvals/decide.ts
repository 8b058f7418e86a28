import type { Id } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { type Queryable, transaction } from '../db/postgres/index.ts';
import { type DepositDecision, type DepositRefusal, decideDepositIn } from '../deposits/index.ts';
import { type Mode, topUpIn } from '../ledger/index.ts';
import { findRelated, hasPermissionNow } from '../operators/index.ts';
import { decidePaymentIn, type OperatorDecision, releaseStrayIn } from '../payments/index.ts';
import * as requests from './requests.ts';
import { thresholdsChange } from './submit.ts';
import { lockThresholds, writeThresholds } from './thresholds.ts';

/** Why a request can no longer be executed: nothing was done, and the request is closed. */
export type VoidReason =
  | DepositRefusal
  | 'already_ended'
  | 'no_payment'
  | 'already_credited'
  | 'reference_conflict'
  | 'no_partner'
  | 'no_order'
  | 'stale';

export type Decision =
  | { outcome: 'done' }
  | { outcome: 'no_request' | 'forbidden' | 'own_request' | 'not_own_request' | 'shared_enrolment' }
  | { outcome: 'already_decided'; state: requests.RequestState }
  /** The gateway is being asked about the payment right now; the request stays open. */
  | { outcome: 'under_way' }
  | { outcome: 'void'; why: VoidReason };

type Decide = (audit: AuditContext, operator: requests.Operator, requestId: Id<'apr'>) => Promise<Decision>;

/** Four-eyes approval by a second operator: the request is closed and executed in one transaction. */
export const approveRequest: Decide = (audit, operator, requestId) =>
  asSecondOperator(audit, operator, requestId, async (tx, request) => {
    const related = await findRelated(tx, operator.name, [request.requesterName]);
    if (related.size > 0) return { outcome: 'shared_enrolment' };
    const result = await executeRequest(tx, audit, request);
    if (result === 'under_way') return { outcome: 'under_way' };
    if (result !== 'done') {
      await requests.closeRequest(tx, audit, operator, request, { state: 'void', why: result });
      return { outcome: 'void', why: result };
    }
    await requests.closeRequest(tx, audit, operator, request, { state: 'approved' });
    return { outcome: 'done' };
  });

/** A second operator refuses the request. */
export const refuseRequest: Decide = (audit, operator, requestId) =>
  asSecondOperator(audit, operator, requestId, async (tx, request) => {
    await requests.closeRequest(tx, audit, operator, request, { state: 'refused' });
    return { outcome: 'done' };
  });

/** The operator who asked takes the request back. */
export const withdrawRequest: Decide = (audit, operator, requestId) =>
  onWaiting(audit, requestId, async (tx, request) => {
    if (request.requestedBy !== operator.operatorId) return { outcome: 'not_own_request' };
    await requests.closeRequest(tx, audit, operator, request, { state: 'withdrawn' });
    return { outcome: 'done' };
  });

type Work = (tx: Queryable, request: requests.OperatorRequest) => Promise<Decision>;

/** What approving and refusing need: the permission, and another operator than the requester. */
const asSecondOperator = (
  audit: AuditContext,
  operator: requests.Operator,
  requestId: Id<'apr'>,
  work: Work,
): Promise<Decision> =>
  onWaiting(audit, requestId, async (tx, request) => {
    // Read again: the operator may have lost it since signing in.
    if (!(await hasPermissionNow(tx, operator.operatorId, requests.permissionFor[request.kind])))
      return { outcome: 'forbidden' };
    if (requests.isRequester(request, operator)) return { outcome: 'own_request' };
    return work(tx, request);
  });

const onWaiting = ({ pool }: AuditContext, requestId: Id<'apr'>, work: Work): Promise<Decision> =>
  transaction(pool, async tx => {
    const request = await requests.lockRequest(tx, requestId);
    if (!request) return { outcome: 'no_request' };
    if (request.state !== 'waiting') return { outcome: 'already_decided', state: request.state };
    return work(tx, request);
  });

const creditOutcomes = {
  credited: 'done',
  already_credited: 'already_credited',
  conflict: 'reference_conflict',
  no_account: 'no_partner',
} as const;

/** Uses the same functions as a change that needs no approval. */
async function executeRequest(
  tx: Queryable,
  audit: AuditContext,
  request: requests.OperatorRequest,
): Promise<'done' | 'under_way' | VoidReason> {
  const { requesterName: requestedBy, change } = request;
  switch (request.kind) {
    case 'resolve': {
      const outcome = change.outcome as OperatorDecision['outcome'];
      const decision = { outcome, reason: request.reason, requestedBy };
      const result = await decidePaymentIn(tx, audit, request.subject as Id<'pay'>, decision);
      return result.outcome === 'resolved' ? 'done' : result.outcome;
    }
    case 'credit': {
      const { subject, reference } = request;
      const credited = { partnerId: subject as Id<'prt'>, mode: change.mode as Mode, reference };
      const item = { ...credited, microUsdt: request.microUsdt! };
      return creditOutcomes[(await topUpIn(tx, audit, item, requestedBy)).outcome];
    }
    case 'release': {
      const { subject, reason } = request;
      return (await releaseStrayIn(tx, audit, subject, { reason, requestedBy })) ? 'done' : 'no_order';
    }
    case 'deposit': {
      const outcome = change.outcome as DepositDecision['outcome'];
      const decision = { outcome, reason: request.reason, requestedBy };
      return decideDepositIn(tx, audit, request.subject as Id<'dep'>, decision);
    }
    case 'thresholds': {
      const now = await lockThresholds(tx);
      if (`${now.version}` !== change.expected_version) return 'stale';
      const wanted = { decisionKopecks: request.amountKopecks!, creditMicroUsdt: request.microUsdt! };
      await writeThresholds(tx, wanted);
      await recordChange(tx, audit, thresholdsChange(now, wanted, requestedBy));
      return 'done';
    }
  }
}
