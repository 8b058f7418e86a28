import type { Id } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit.ts';
import { type Queryable, transaction } from '../db/pool.ts';
import { type Mode, topUpIn } from '../ledger/index.ts';
import { hasPermissionNow, wasEnrolledBy } from '../operators/index.ts';
import { decidePaymentIn, type OperatorDecision } from '../payments/index.ts';
import { thresholdsChange } from './ask.ts';
import {
  decide,
  isAsker,
  lockRequest,
  neededFor,
  type Operator,
  type OperatorRequest,
  type RequestState,
} from './requests.ts';
import { lockThresholds, writeThresholds } from './thresholds.ts';

/** Why what was asked for can no longer be done: nothing was, and the request is over. */
export type VoidReason =
  | 'already_ended'
  | 'no_payment'
  | 'already_credited'
  | 'reference_conflict'
  | 'no_partner'
  | 'stale';

export type Decision =
  | { outcome: 'done' }
  | { outcome: 'no_request' | 'forbidden' | 'own_request' | 'not_own_request' | 'let_in_by_asker' }
  | { outcome: 'already_decided'; state: RequestState }
  /** The bank side is being asked at this moment: the request goes on waiting. */
  | { outcome: 'under_way' }
  | { outcome: 'void'; why: VoidReason };

/** A second person says yes: in one transaction the request is decided and what it asks for is carried out. */
export const approveRequest = (
  audit: AuditContext,
  operator: Operator,
  requestId: Id<'apr'>,
): Promise<Decision> =>
  onWaiting(audit, requestId, async (tx, request) => {
    if (!(await hasPermissionNow(tx, operator.operatorId, neededFor[request.kind])))
      return { outcome: 'forbidden' };
    if (isAsker(request, operator)) return { outcome: 'own_request' };
    if (await wasEnrolledBy(tx, operator.name, request.askedName)) return { outcome: 'let_in_by_asker' };
    const carried = await carryOut(tx, audit, request);
    if (carried === 'under_way') return { outcome: 'under_way' };
    if (carried !== 'done') {
      await decide(tx, audit, operator, request, 'void', carried);
      return { outcome: 'void', why: carried };
    }
    await decide(tx, audit, operator, request, 'approved');
    return { outcome: 'done' };
  });

/** A second person says no. */
export const refuseRequest = (
  audit: AuditContext,
  operator: Operator,
  requestId: Id<'apr'>,
): Promise<Decision> =>
  onWaiting(audit, requestId, async (tx, request) => {
    if (!(await hasPermissionNow(tx, operator.operatorId, neededFor[request.kind])))
      return { outcome: 'forbidden' };
    if (isAsker(request, operator)) return { outcome: 'own_request' };
    await decide(tx, audit, operator, request, 'refused');
    return { outcome: 'done' };
  });

/** Whoever asked thinks better of it. */
export const withdrawRequest = (
  audit: AuditContext,
  operator: Operator,
  requestId: Id<'apr'>,
): Promise<Decision> =>
  onWaiting(audit, requestId, async (tx, request) => {
    if (request.askedBy !== operator.operatorId) return { outcome: 'not_own_request' };
    await decide(tx, audit, operator, request, 'withdrawn');
    return { outcome: 'done' };
  });

function onWaiting(
  { pool }: AuditContext,
  requestId: Id<'apr'>,
  work: (tx: Queryable, request: OperatorRequest) => Promise<Decision>,
): Promise<Decision> {
  return transaction(pool, async tx => {
    const request = await lockRequest(tx, requestId);
    if (!request) return { outcome: 'no_request' };
    if (request.state !== 'waiting') return { outcome: 'already_decided', state: request.state };
    return work(tx, request);
  });
}

/** Through the very functions that one person alone would use. */
async function carryOut(
  tx: Queryable,
  audit: AuditContext,
  request: OperatorRequest,
): Promise<'done' | 'under_way' | VoidReason> {
  const { askedName: askedBy, change } = request;
  switch (request.kind) {
    case 'resolve': {
      const word = {
        outcome: change.outcome as OperatorDecision['outcome'],
        reason: request.reason,
        askedBy,
      };
      const { outcome } = await decidePaymentIn(tx, audit, request.subject as Id<'pay'>, word);
      return outcome === 'resolved' ? 'done' : outcome;
    }
    case 'credit': {
      const { reference } = request;
      const microUsdt = request.microUsdt!;
      const item = {
        partnerId: request.subject as Id<'prt'>,
        mode: change.mode as Mode,
        microUsdt,
        reference,
      };
      const { outcome } = await topUpIn(tx, audit, item, askedBy);
      return (
        {
          credited: 'done',
          already_credited: 'already_credited',
          conflict: 'reference_conflict',
          no_account: 'no_partner',
        } as const
      )[outcome];
    }
    case 'thresholds': {
      const now = await lockThresholds(tx);
      if (`${now.version}` !== change.expected_version) return 'stale';
      const wanted = { resolveKopecks: request.amountKopecks!, creditMicroUsdt: request.microUsdt! };
      await writeThresholds(tx, wanted);
      await recordChange(tx, audit, thresholdsChange(now, wanted, askedBy));
      return 'done';
    }
  }
}
