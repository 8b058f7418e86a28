import Type from 'typebox';
import {
  approveRequest,
  type Decision,
  listRequests,
  type Operator,
  refuseRequest,
  withdrawRequest,
} from '../../approvals/index.ts';
import { type Id, parseId } from '../../base/ids.ts';
import type { AuditContext } from '../../db/audit/index.ts';
import { listReview, type PaymentInReview } from '../../payments/index.ts';
import { type Answer, paging, refuse } from '../../web/index.ts';
import { balanceOf } from '../approval-balances.ts';
import { answer, requestRow } from '../approval-replies.ts';
import { auditContextOf, get, post } from '../route.ts';
import type { RequestRow } from '../shapes/approvals.ts';
import type { Page } from '../shapes/common.ts';
import type { ReviewRow } from '../shapes/payments.ts';
import { paymentRow } from './rows.ts';

const states = ['waiting', 'approved', 'refused', 'withdrawn', 'void'] as const;

const listReviewQueue = get(
  '/review',
  'see',
  { query: paging },
  async (request, deps): Answer<Page<ReviewRow>> => {
    const { limit, after: cursor } = request.query;
    const after = cursor === undefined ? undefined : parseId('pay', cursor);
    if (cursor !== undefined && !after) return refuse(422, 'invalid_request', 'Page not found.');
    const { payments, hasMore } = await listReview(deps.db, { limit, after });
    const subjects = payments.map(({ paymentId }) => paymentId);
    const waiting = await listRequests(deps.db, { state: 'waiting', subjects });
    const requests = new Map(waiting.map(one => [one.subject, one]));
    const nowMs = deps.clock.nowMs();
    return {
      data: payments.map(payment => {
        const waits = requests.get(payment.paymentId);
        return {
          ...paymentRow(payment),
          age_sec: Math.max(0, Math.floor((nowMs - payment.createdAt.getTime()) / 1000)),
          overdue: payment.supportSince !== null,
          tries: payment.tries,
          next_poll_at: payment.nextPollAt.toISOString(),
          is_under_way: payment.isUnderWay,
          last_answer: lastAnswer(payment),
          request: waits ? requestRow(waits, request.operator) : null,
        };
      }),
      next_cursor: hasMore ? payments.at(-1)!.paymentId : null,
    };
  },
);

function lastAnswer({ lastAnswer: last }: PaymentInReview): ReviewRow['last_answer'] {
  return last && { call: last.call, result: last.outcome, http_status: last.status, error: last.error };
}

const listApprovalRequests = get(
  '/requests',
  'see',
  {
    query: {
      state: Type.Optional(Type.Union(states.map(state => Type.Literal(state)))),
    },
  },
  async (request, deps): Promise<{ data: RequestRow[] }> => {
    const requests = await listRequests(deps.db, { state: request.query.state });
    const data: RequestRow[] = [];
    // One after the other, to leave connections for payments.
    for (const one of requests) data.push(requestRow(one, request.operator, await balanceOf(deps.db, one)));
    return { data };
  },
);

// The permission depends on the kind of the request and is checked together with it.
const decisions: [string, (audit: AuditContext, operator: Operator, id: Id<'apr'>) => Promise<Decision>][] = [
  ['approve', approveRequest],
  ['refuse', refuseRequest],
  ['withdraw', withdrawRequest],
];
const decideRequests = decisions.map(([name, decide]) =>
  post(`/requests/:id/${name}`, 'see', {}, async (request, deps) => {
    const id = parseId('apr', request.params.id);
    const decision = id ? await decide(auditContextOf(deps, request), request.operator, id) : noRequest;
    return answer(request, decision);
  }),
);

const noRequest = { outcome: 'no_request' } as const;

/** What waits for operators: payments without a final answer, and requests for four-eyes approval. */
export const reviewRoutes = [listReviewQueue, listApprovalRequests, ...decideRequests];
