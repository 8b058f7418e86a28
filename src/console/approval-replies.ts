import type { FastifyReply, FastifyRequest } from 'fastify';
import { isRequester, type OperatorRequest, permissionFor, type VoidReason } from '../approvals/index.ts';
import { formatKopecks, formatMicroUsdt } from '../base/money.ts';
import { roleHasPermission, type SignedIn } from '../operators/index.ts';
import { done, refuse } from './replies.ts';
import type { Done, RequestRow } from './shapes/approvals.ts';

export function requestRow(request: OperatorRequest, operator: SignedIn): RequestRow {
  const { amountKopecks, microUsdt, askedAt, decidedAt } = request;
  const isOwn = isRequester(request, operator);
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
    asked_by: request.requesterName,
    asked_at: askedAt.toISOString(),
    state: request.state,
    decided_by: request.decidedName,
    decided_at: decidedAt?.toISOString() ?? null,
    may_decide: mayDecide,
    is_own: isOwn,
  };
}

/** The status and message of every outcome that is not done. */
const refusals = {
  no_payment: [404, 'There is no such payment.'],
  no_partner: [404, 'There is no such partner.'],
  no_request: [404, 'There is no such request.'],
  no_order: [409, 'This order does not wait any more.'],
  already_ended: [409, 'The payment is already finished, and a finished payment never changes.'],
  stale: [409, 'It has changed since this page was loaded: reload it and try again.'],
  under_way: [409, 'The payment is being processed or polled right now: try again in a minute.'],
  already_waiting: [409, 'This already waits for the approval of a second operator.'],
  reference_conflict: [409, 'This reference was used for another amount: use a new one.'],
  already_credited: [409, 'This reference has already been credited with the same amount.'],
  already_decided: [409, 'Another operator has already decided on this request.'],
  own_request: [403, 'This is your own request: a second operator has to decide.'],
  shared_enrolment: [
    403,
    'One person could act as you and as the requester, because of who issued the setup links: an operator with independent access has to approve it.',
  ],
  not_own_request: [403, 'Only the requester can withdraw it.'],
  forbidden: [403, 'Your role may not do this.'],
  test_mode: [409, 'Test payments have no gateway to ask.'],
} as const satisfies Record<string, [number, string]>;

type Result =
  | { outcome: 'done' }
  | { outcome: 'waiting'; request: OperatorRequest }
  | { outcome: 'void'; why: VoidReason }
  | { outcome: keyof typeof refusals };

/** The answer to an action that may need four-eyes approval. */
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
