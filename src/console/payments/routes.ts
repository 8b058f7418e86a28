import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { listRequests, needsApproval, readThresholds, submitPaymentDecision } from '../../approvals/index.ts';
import { parseId } from '../../base/ids.ts';
import { isLabel } from '../../base/label.ts';
import { formatKopecks, formatMicroUsdt } from '../../base/money.ts';
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
import { Body, fileOf, type Routes, refuse, typed, unsearchable } from '../../web/index.ts';
import { deliveryHistory } from '../../webhooks/index.ts';
import { readBalance } from '../approval-balances.ts';
import { answer, requestRow } from '../approval-replies.ts';
import { auditContextOf } from '../audit-context.ts';
import type { ConsoleDeps } from '../deps.ts';
import type { Page } from '../shapes/common.ts';
import type { PaymentDetail, PaymentRow, PaymentTotals } from '../shapes/payments.ts';
import { writePayments } from './export.ts';
import { paymentRow, timelineOf, totalsRow } from './rows.ts';
import { Filters, oneOf, readFilters, Search } from './search-filter.ts';

const ById = Type.Object({ id: Type.String() });

/** Payments of all partners: search, details with the timeline, polling the gateway now, an operator's decision. */
export function paymentRoutes(scope: FastifyInstance, deps: ConsoleDeps): void {
  const routes = typed(scope);
  findPayments(routes, deps);
  sumPayments(routes, deps);
  exportPayments(routes, deps);
  showPayment(routes, deps);
  askGateway(routes, deps);
  decidePayment(routes, deps);
}

function findPayments(routes: Routes, deps: ConsoleDeps): void {
  routes.get(
    '/payments',
    { config: { needs: 'see' }, schema: { querystring: Search } },
    async (request, reply): Promise<Page<PaymentRow> | typeof reply> => {
      const { limit, after: cursor } = request.query;
      const after = cursor === undefined ? undefined : parseId('pay', cursor);
      const filters = readFilters(request.query, deps.qrHosts);
      if (!filters || (cursor !== undefined && !after))
        return refuse(request, reply, 422, 'invalid_request', unsearchable);
      const page = await searchPayments(deps.db, filters, { limit, after });
      return { data: page.payments.map(paymentRow), next_cursor: page.next };
    },
  );
}

function sumPayments(routes: Routes, deps: ConsoleDeps): void {
  routes.get(
    '/payments/totals',
    { config: { needs: 'see' }, schema: { querystring: Filters } },
    async (request, reply): Promise<PaymentTotals | typeof reply> => {
      const filters = readFilters(request.query, deps.qrHosts);
      if (!filters) return refuse(request, reply, 422, 'invalid_request', unsearchable);
      return totalsRow(await totalPayments(deps.db, filters));
    },
  );
}

function exportPayments(routes: Routes, deps: ConsoleDeps): void {
  routes.get(
    '/payments/export',
    { config: { needs: 'see' }, schema: { querystring: Filters } },
    (request, reply) => {
      const filters = readFilters(request.query, deps.qrHosts);
      if (!filters) return refuse(request, reply, 422, 'invalid_request', unsearchable);
      return reply
        .type('text/csv; charset=utf-8')
        .header('Content-Disposition', 'attachment; filename="payments.csv"')
        .send(fileOf(deps, request, writePayments(deps.db, filters)));
    },
  );
}

function showPayment(routes: Routes, deps: ConsoleDeps): void {
  routes.get(
    '/payments/:id',
    { config: { needs: 'see' }, schema: { params: ById } },
    async (request, reply): Promise<PaymentDetail | typeof reply> => {
      const paymentId = parseId('pay', request.params.id);
      const payment = paymentId && (await findPaymentAnywhere(deps.db, paymentId));
      if (!payment || payment.status === 'rejected')
        return answer(request, reply, { outcome: 'no_payment' }) as typeof reply;
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
          qr_url: payment.qrUrl,
          idempotency_key: payment.idempotencyKey,
          gateway_order_id: payment.gatewayOrderId,
          rate_id: `${payment.rateId}`,
          metadata: payment.metadata,
          is_under_way: payment.isUnderWay,
          next_poll_at: payment.nextPollAt?.toISOString() ?? null,
          support_since: payment.supportSince?.toISOString() ?? null,
          api_request_id: creatingRequest,
          refunded: refunded
            ? { rub: formatKopecks(refunded.kopecks), usdt: formatMicroUsdt(refunded.microUsdt) }
            : null,
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
    },
  );
}

function askGateway(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    '/payments/:id/ask',
    { config: { needs: 'payments.ask' }, schema: { params: ById } },
    async (request, reply) => {
      const paymentId = parseId('pay', request.params.id);
      if (!paymentId) return answer(request, reply, { outcome: 'no_payment' });
      const { outcome } = await pollNow(auditContextOf(deps, request), paymentId);
      return answer(request, reply, { outcome: outcome === 'asked' ? 'done' : outcome });
    },
  );
}

function decidePayment(routes: Routes, deps: ConsoleDeps): void {
  routes.post(
    '/payments/:id/resolve',
    {
      config: { needs: 'payments.resolve' },
      schema: {
        params: ById,
        body: Body({
          outcome: oneOf('succeeded', 'failed'),
          reason: Type.String({ maxLength: 500 }),
          expected_status_detail: Type.Union([Type.String(), Type.Null()]),
        }),
      },
    },
    async (request, reply) => {
      const paymentId = parseId('pay', request.params.id);
      if (!paymentId) return answer(request, reply, { outcome: 'no_payment' });
      const { outcome, expected_status_detail: expectedStatusDetail } = request.body;
      const reason = request.body.reason.trim();
      if (!isLabel(reason))
        return refuse(request, reply, 422, 'invalid_request', 'Enter a reason of 1 to 128 characters.');
      const asked = { outcome, reason, expectedStatusDetail };
      return answer(
        request,
        reply,
        await submitPaymentDecision(auditContextOf(deps, request), request.operator, paymentId, asked),
      );
    },
  );
}
