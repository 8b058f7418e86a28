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
import { listReview } from '../../payments/index.ts';
import { oneOf, paging, refuse } from '../../web/index.ts';
import { balanceOf } from '../approval-balances.ts';
import { answer, requestRow } from '../approval-replies.ts';
import { auditContextOf, get, post } from '../route.ts';
import { paymentRow } from './rows.ts';

export const listReviewQueue = get('/review', 'see', { query: paging }, async (request, deps) => {
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
      const last = payment.lastAnswer;
      return {
        ...paymentRow(payment),
        age_sec: Math.max(0, Math.floor((nowMs - payment.createdAt.getTime()) / 1000)),
        overdue: payment.supportSince !== null,
        tries: payment.tries,
        next_poll_at: payment.nextPollAt.toISOString(),
        is_under_way: payment.isUnderWay,
        last_answer: last && {
          call: last.call,
          result: last.outcome,
          http_status: last.status,
          error: last.error,
        },
        request: waits ? requestRow(waits, request.operator) : null,
      };
    }),
    next_cursor: hasMore ? payments.at(-1)!.paymentId : null,
  };
});

const listApprovalRequests = get(
  '/requests',
  'see',
  { query: { state: Type.Optional(oneOf('waiting', 'approved', 'refused', 'withdrawn', 'void')) } },
  async (request, deps) => {
    const requests = await listRequests(deps.db, { state: request.query.state });
    const data: ReturnType<typeof requestRow>[] = [];
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
