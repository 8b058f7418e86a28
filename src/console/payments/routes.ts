import Type from 'typebox';
import { listRequests, needsApproval, readThresholds, submitPaymentDecision } from '../../approvals/index.ts';
import { parseId } from '../../base/ids.ts';
import { isLabel } from '../../base/label.ts';
import { changesOf } from '../../db/audit/index.ts';
import {
  findPaymentAnywhere,
  findQuoteOf,
  findRefunded,
  paymentTimeline,
  pollNow,
  searchPayments,
  totalPayments,
} from '../../payments/index.ts';
import { findCreatingRequest } from '../../request-log/index.ts';
import { Download, idOr, oneOf, paymentFacts, refuse, unsearchable, writePayments } from '../../web/index.ts';
import { deliveryHistory } from '../../webhooks/index.ts';
import { readBalance } from '../approval-balances.ts';
import { answer, requestRow } from '../approval-replies.ts';
import { auditContextOf, get, post } from '../route.ts';
import { paymentRow, timelineOf, totalsRow } from './rows.ts';
import { Filters, readFilters, Search } from './search-filter.ts';

const noPayment = refuse(404, 'not_found', 'Payment not found.');

const findPayments = get('/payments', 'see', { query: Search }, async (request, deps) => {
  const { limit, after: cursor } = request.query;
  const after = cursor === undefined ? undefined : parseId('pay', cursor);
  const filters = readFilters(request.query, deps.qrHosts);
  if (!filters || (cursor !== undefined && !after)) return unsearchable;
  const page = await searchPayments(deps.db, filters, { limit, after });
  return { data: page.payments.map(paymentRow), next_cursor: page.next };
});

const sumPayments = get('/payments/totals', 'see', { query: Filters }, async (request, deps) => {
  const filters = readFilters(request.query, deps.qrHosts);
  if (!filters) return unsearchable;
  return totalsRow(await totalPayments(deps.db, filters));
});

const exportPayments = get('/payments/export', 'see', { query: Filters }, (request, deps) => {
  const filters = readFilters(request.query, deps.qrHosts);
  if (!filters) return unsearchable;
  return new Download('payments.csv', writePayments(deps.db, filters, paymentRow, { isForOperators: true }));
});

export const showPayment = get('/payments/:id', 'see', {}, async (request, deps) => {
  const paymentId = parseId('pay', request.params.id);
  const payment = paymentId && (await findPaymentAnywhere(deps.db, paymentId));
  if (!payment || payment.status === 'rejected') return noPayment;
  const { db } = deps;
  const { partnerId, partnerName, mode } = payment;
  const [events, deliveries, changes, requests, thresholds, creatingRequest, balance, refunded, quote] =
    await Promise.all([
      paymentTimeline(db, payment),
      deliveryHistory(db, payment),
      changesOf(db, payment.paymentId),
      listRequests(db, { state: 'waiting', subjects: [payment.paymentId] }),
      readThresholds(db),
      findCreatingRequest(db, payment),
      readBalance(db, partnerId, partnerName, mode),
      findRefunded(db, payment),
      findQuoteOf(db, payment.paymentId),
    ]);
  return {
    payment: {
      ...paymentRow(payment),
      ...paymentFacts(payment, creatingRequest, refunded),
      gateway_order_id: payment.gatewayOrderId,
      // A process holds its lease: it is paying or polling the gateway now.
      is_under_way: payment.isUnderWay,
      next_poll_at: payment.nextPollAt?.toISOString() ?? null,
      support_since: payment.supportSince?.toISOString() ?? null,
      // The locked one that its rate is from; null: it has the rate of its time.
      quote: quote
        ? {
            quote_id: quote.quoteId,
            locked_at: quote.lockedAt.toISOString(),
            spread_percent: quote.spreadBps / 100,
          }
        : null,
    },
    timeline: timelineOf({ status: payment.status, events, deliveries, changes }),
    request: requests[0] ? requestRow(requests[0], request.operator, balance) : null,
    balance,
    needs_second_operator: await needsApproval(db, deps.clock, request.operator, payment, thresholds),
  };
});

const find = idOr('pay', noPayment);

const askGateway = post('/payments/:id/ask', 'payments.ask', { find }, async (request, deps, paymentId) => {
  const { outcome } = await pollNow(auditContextOf(deps, request), paymentId);
  return answer(request, { outcome: outcome === 'asked' ? 'done' : outcome });
});

const decidePayment = post(
  '/payments/:id/resolve',
  'payments.resolve',
  {
    find,
    body: {
      outcome: oneOf('succeeded', 'failed'),
      reason: Type.String({ maxLength: 500 }),
      expected_status_detail: Type.Union([Type.String(), Type.Null()]),
    },
  },
  async (request, deps, paymentId) => {
    const { outcome, expected_status_detail: expectedStatusDetail } = request.body;
    const reason = request.body.reason.trim();
    if (!isLabel(reason)) return refuse(422, 'invalid_request', 'Enter a reason of 1 to 128 characters.');
    const asked = { outcome, reason, expectedStatusDetail };
    return answer(
      request,
      await submitPaymentDecision(auditContextOf(deps, request), request.operator, paymentId, asked),
    );
  },
);

/** Payments of all partners: search, details with the timeline, polling the gateway now, an operator's decision. */
export const paymentRoutes = [
  findPayments,
  sumPayments,
  exportPayments,
  showPayment,
  askGateway,
  decidePayment,
];
