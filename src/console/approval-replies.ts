import type { FastifyReply, FastifyRequest } from 'fastify';
import { isAsker, type OperatorRequest, permissionFor, type VoidReason } from '../approvals/index.ts';
import { formatKopecks, formatMicroUsdt } from '../base/money.ts';
import { roleHasPermission, type SignedIn } from '../operators/index.ts';
import { done, refuse } from './replies.ts';
import type { Done, RequestRow } from './shapes/approvals.ts';

export function requestRow(request: OperatorRequest, operator: SignedIn): RequestRow {
  const { amountKopecks, microUsdt, askedAt, decidedAt } = request;
  const isOwn = isAsker(request, operator);
  const mayDecide =
    request.state === 'waiting' && !isOwn && roleHasPermission(operator.role, permissionFor[request.kind]);
  const { expected_version: _, ...change } = request.change;
  return {
    request_id: request.requestId,
    kind: request.kind,
    subject: request.subject,
    change,
    amount_rub: amountKopecks === null ? null : formatKopecks(amountKopecks),
    amount_usdt: microUsdt === null ? null : formatMicroUsdt(microUsdt),
    reason: request.reason,
    asked_by: request.askedName,
    asked_at: askedAt.toISOString(),
    state: request.state,
    decided_by: request.decidedName,
    decided_at: decidedAt?.toISOString() ?? null,
    may_decide: mayDecide,
    is_own: isOwn,
  };
}

/** Why something was not done, in a status and in words. */
const refusals = {
  no_payment: [404, 'There is no such payment.'],
  no_partner: [404, 'There is no such partner.'],
  no_request: [404, 'There is no such request.'],
  already_ended: [409, 'The payment has ended already, and what has ended stays as it is.'],
  stale: [409, 'It has changed since this page was loaded: look at it again.'],
  under_way: [409, 'The bank side is being asked about it at this moment: try again in a minute.'],
  already_waiting: [409, 'This waits for a second person already.'],
  reference_conflict: [409, 'This reference stands for another amount: take a new reference.'],
  already_credited: [409, 'This reference has been credited already, with the same amount.'],
  already_decided: [409, 'Somebody has decided on this request already.'],
  own_request: [403, 'A second person has to decide on this: you asked for it yourself.'],
  enrolled_by_asker: [
    403,
    'Whoever asked for this has issued your access, or that of whoever did: somebody else has to approve it.',
  ],
  not_own_request: [403, 'Only whoever asked for it can withdraw it.'],
  forbidden: [403, 'Your role may not do this.'],
  test_mode: [409, 'In test mode there is no bank side to ask.'],
} as const satisfies Record<string, [number, string]>;

type Result =
  | { outcome: 'done' }
  | { outcome: 'waiting'; request: OperatorRequest }
  | { outcome: 'void'; why: VoidReason }
  | { outcome: keyof typeof refusals };

/** What came of an action that may need a second person, as pages are told. */
export function answer(request: FastifyRequest, reply: FastifyReply, result: Result): Done | FastifyReply {
  switch (result.outcome) {
    case 'done':
      return done;
    case 'waiting':
      return { outcome: 'waiting', request: requestRow(result.request, request.operator) };
    case 'void': {
      const [, message] = refusals[result.why];
      return refuse(request, reply, 409, 'request_void', `${message} The request is over; nothing was done.`);
    }
    default: {
      const [status, message] = refusals[result.outcome];
      return refuse(
        request,
        reply,
        status,
        notFound.has(result.outcome) ? 'not_found' : result.outcome,
        message,
      );
    }
  }
}

const notFound = new Set<string>(['no_payment', 'no_partner', 'no_request']);
