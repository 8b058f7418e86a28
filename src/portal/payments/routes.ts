import type { FastifyInstance } from 'fastify';
import { csvLine } from '../../base/csv.ts';
import { parseId } from '../../base/ids.ts';
import { formatKopecks, formatMicroUsdt } from '../../base/money.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import {
  findPaymentOf,
  findQuoteOf,
  findRefunded,
  type PaymentFilter,
  paymentTimeline,
  readFoundPayments,
  searchPayments,
  totalPayments,
} from '../../payments/index.ts';
import { findCreatingRequest } from '../../request-log/index.ts';
import { ById, fileOf, type Page, type Routes, refuse, typed, unsearchable } from '../../web/index.ts';
import { deliveryHistory } from '../../webhooks/index.ts';
import type { RouteDeps } from '../deps.ts';
import type { PaymentDetail, PaymentRow, PaymentTotals } from '../shapes/payments.ts';
import { paymentRow, timelineOf } from './rows.ts';
import { Filters, readFilters, Search } from './search-filter.ts';

const below = '/partners/:partner_id';
const config = { allows: 'viewer' } as const;

/** The payments of a partner: search, totals, export, and one payment with its timeline. */
export function paymentRoutes(scope: FastifyInstance, deps: RouteDeps): void {
  const routes = typed(scope);
  findPayments(routes, deps);
  sumPayments(routes, deps);
  exportPayments(routes, deps);
  showPayment(routes, deps);
}

function findPayments(routes: Routes, deps: RouteDeps): void {
  routes.get(
    `${below}/payments`,
    { config, schema: { querystring: Search } },
    async (request, reply): Promise<Page<PaymentRow> | typeof reply> => {
      const { partnerId } = request.member.partner;
      const { limit, after: cursor } = request.query;
      const after = cursor === undefined ? undefined : parseId('pay', cursor);
      const filters = readFilters(request.query, partnerId, deps.qrHosts);
      if (!filters || (cursor !== undefined && !after))
        return refuse(request, reply, 422, 'invalid_request', unsearchable);
      const page = await searchPayments(deps.readsOf(partnerId), filters, { limit, after });
      return { data: page.payments.map(paymentRow), next_cursor: page.next };
    },
  );
}

function sumPayments(routes: Routes, deps: RouteDeps): void {
  routes.get(
    `${below}/payments/totals`,
    { config, schema: { querystring: Filters } },
    async (request, reply): Promise<PaymentTotals | typeof reply> => {
      const { partnerId } = request.member.partner;
      const filters = readFilters(request.query, partnerId, deps.qrHosts);
      if (!filters) return refuse(request, reply, 422, 'invalid_request', unsearchable);
      const { totals, isComplete } = await totalPayments(deps.readsOf(partnerId), filters);
      return {
        totals: totals.map(({ state, count, kopecks, microUsdt }) => ({
          state,
          count,
          rub: formatKopecks(kopecks),
          usdt: formatMicroUsdt(microUsdt),
        })),
        is_complete: isComplete,
      };
    },
  );
}

/** As many as the export of the console has; the page names this limit, too. */
const maxExported = 50_000;
const columns = [
  'payment_id',
  'created_at',
  'settled_at',
  'mode',
  'status',
  'status_detail',
  'error_code',
  'amount_rub',
  'amount_usdt',
  'rate',
  'recipient',
  'external_id',
] as const satisfies (keyof PaymentRow)[];

async function* writePayments(db: Queryable, filters: PaymentFilter[]): AsyncGenerator<string> {
  yield csvLine([...columns]);
  for await (const { payments, hasMore } of readFoundPayments(db, filters, maxExported)) {
    const rows = payments.map(paymentRow);
    yield rows.map(row => csvLine(columns.map(column => row[column]))).join('');
    if (hasMore)
      yield csvLine([`Only the newest ${maxExported} payments are in this file: choose a shorter period.`]);
  }
}

function exportPayments(routes: Routes, deps: RouteDeps): void {
  routes.get(`${below}/payments/export`, { config, schema: { querystring: Filters } }, (request, reply) => {
    const { partnerId } = request.member.partner;
    const filters = readFilters(request.query, partnerId, deps.qrHosts);
    if (!filters) return refuse(request, reply, 422, 'invalid_request', unsearchable);
    return reply
      .type('text/csv; charset=utf-8')
      .header('Content-Disposition', 'attachment; filename="payments.csv"')
      .send(fileOf(deps, request, writePayments(deps.readsOf(partnerId), filters)));
  });
}

function showPayment(routes: Routes, deps: RouteDeps): void {
  routes.get(
    `${below}/payments/:id`,
    { config, schema: { params: ById } },
    async (request, reply): Promise<PaymentDetail | typeof reply> => {
      const { partnerId } = request.member.partner;
      const db = deps.readsOf(partnerId);
      const paymentId = parseId('pay', request.params.id);
      // The payment of another partner does not exist for this one.
      const payment = paymentId && (await findPaymentOf(db, partnerId, paymentId));
      if (!payment) return refuse(request, reply, 404, 'not_found', 'Payment not found.');
      const events = await paymentTimeline(db, payment);
      const deliveries = await deliveryHistory(db, payment);
      const refunded = await findRefunded(db, payment);
      const quote = await findQuoteOf(db, payment.paymentId);
      return {
        payment: {
          ...paymentRow(payment),
          qr_url: payment.qrUrl,
          idempotency_key: payment.idempotencyKey,
          metadata: payment.metadata,
          api_request_id: await findCreatingRequest(db, payment),
          refunded: refunded
            ? { rub: formatKopecks(refunded.kopecks), usdt: formatMicroUsdt(refunded.microUsdt) }
            : null,
          quote: quote ? { quote_id: quote.quoteId, locked_at: quote.lockedAt.toISOString() } : null,
        },
        timeline: timelineOf(payment.status, events, deliveries),
      };
    },
  );
}
