import type { FastifyRequest } from 'fastify';
import { isRequester, type OperatorRequest, permissionFor, type VoidReason } from '../approvals/index.ts';
import { formatKopecks, formatMicroUsdt } from '../base/money.ts';
import { roleHasPermission, type SignedIn } from '../operators/index.ts';
import { done, type Refused, refuse } from '../web/index.ts';
import type { PartnerBalance } from './approval-balances.ts';

/**
 * A change that needs four-eyes approval, as the signed-in operator sees it. The balance is the one that the change is
 * about; null if it changes none, or is decided, or where lists leave it out.
 */
export function requestRow(
  request: OperatorRequest,
  operator: SignedIn,
  balance: PartnerBalance | null = null,
) {
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
    balance,
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
  no_payment: [404, 'Payment not found.'],
  no_partner: [404, 'Partner not found.'],
  no_request: [404, 'Request not found.'],
  no_deposit: [404, 'Deposit not found.'],
  not_held: [409, 'This deposit is not held any more: reload the page.'],
  too_large: [
    409,
    'A deposit of more than a billion USDT cannot be released: credit it by hand, then reject it.',
  ],
  reference_used: [
    409,
    'The reference of this deposit has already been credited: check the partner, then reject it.',
  ],
  no_order: [409, 'This order has already been released.'],
  already_ended: [409, 'This payment is already completed and can no longer be changed.'],
  stale: [409, 'It has changed since this page was loaded: reload it and try again.'],
  under_way: [409, 'The payment is being processed right now: try again in a minute.'],
  reference_conflict: [409, 'This reference was already used with a different amount: use a new one.'],
  already_credited: [409, 'This reference has already been credited with the same amount.'],
  already_decided: [409, 'Another operator has already decided on this request.'],
  own_request: [403, 'This is your own request: another operator must decide.'],
  shared_enrolment: [
    403,
    'You and the requester were given access by the same operator, or one of you by the other: an operator with independent access must approve it.',
  ],
  not_own_request: [403, 'Only the requester can withdraw this request.'],
  forbidden: [403, 'Your role does not allow this.'],
  test_mode: [409, 'Test payments have no status at the gateway.'],
} as const satisfies Record<string, [number, string]>;

type Result =
  | { outcome: 'done' }
  | { outcome: 'waiting' | 'already_waiting'; request: OperatorRequest }
  | { outcome: 'void'; why: VoidReason }
  | { outcome: keyof typeof refusals };

/** Done at once, or waiting for a second operator. */
export type Done = typeof done | { outcome: 'waiting'; request: ReturnType<typeof requestRow> };

/** The answer to an action that may need four-eyes approval. */
export function answer(request: FastifyRequest, result: Result): Done | Refused {
  switch (result.outcome) {
    case 'done':
      return done;
    case 'waiting':
      return { outcome: 'waiting', request: requestRow(result.request, request.operator) };
    case 'already_waiting':
      return refuse(409, 'already_waiting', whatWaits(result.request));
    case 'void': {
      const [, message] = refusals[result.why];
      return refuse(409, 'request_void', `${message} The request is void: no changes made.`);
    }
    default: {
      const [status, message] = refusals[result.outcome];
      return refuse(status, notFound.has(result.outcome) ? 'not_found' : result.outcome, message);
    }
  }
}

/** It may be the opposite of what was asked for now, which nobody will decide on. */
const whatWaits = (waiting: OperatorRequest) =>
  `Your request was not saved. Request ${waiting.requestId} by ${waiting.requesterName} is already waiting for approval. ${wants(waiting)}`;

function wants({ kind, change }: OperatorRequest): string {
  switch (kind) {
    case 'resolve':
    case 'deposit':
      return `New status: ${change.outcome}.`;
    case 'credit':
      return `Amount: ${change.usdt} USDT.`;
    case 'thresholds':
      return `Thresholds: ${change.resolve_rub} RUB, ${change.credit_usdt} USDT.`;
    case 'release':
      return '';
  }
}

const notFound = new Set<string>(['no_payment', 'no_partner', 'no_request', 'no_deposit']);
