import { parseId } from '../../base/ids.ts';
import { formatKopecks, formatMicroUsdt } from '../../base/money.ts';
import { hasRight, listMembers } from '../../partners/index.ts';
import {
  findPaymentOf,
  findQuoteOf,
  findRefunded,
  paymentTimeline,
  personWhoPaid,
  searchPayments,
  totalPayments,
} from '../../payments/index.ts';
import { findCreatingRequest } from '../../request-log/index.ts';
import { Download, paymentFacts, paymentRow, refuse, unsearchable, writePayments } from '../../web/index.ts';
import { deliveryHistory } from '../../webhooks/index.ts';
import { get } from '../route.ts';
import { timelineOf } from './rows.ts';
import { Filters, readFilters, Search } from './search-filter.ts';

const findPayments = get('/payments', 'money', { query: Search }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const { limit, after: cursor } = request.query;
  const after = cursor === undefined ? undefined : parseId('pay', cursor);
  const filters = readFilters(request.query, partnerId, deps.qrHosts);
  if (!filters || (cursor !== undefined && !after)) return unsearchable;
  const page = await searchPayments(deps.readsOf(partnerId), filters, { limit, after });
  return { data: page.payments.map(paymentRow), next_cursor: page.next };
});

const sumPayments = get('/payments/totals', 'money', { query: Filters }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const filters = readFilters(request.query, partnerId, deps.qrHosts);
  if (!filters) return unsearchable;
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
});

const exportPayments = get('/payments/export', 'money', { query: Filters }, (request, deps) => {
  const { partnerId } = request.member.partner;
  const filters = readFilters(request.query, partnerId, deps.qrHosts);
  if (!filters) return unsearchable;
  return new Download('payments.csv', writePayments(deps.readsOf(partnerId), filters, paymentRow));
});

export const showPayment = get('/payments/:id', 'money', {}, async (request, deps) => {
  const { partner, role } = request.member;
  const { partnerId } = partner;
  const db = deps.readsOf(partnerId);
  const paymentId = parseId('pay', request.params.id);
  // The payment of another partner does not exist for this one.
  const payment = paymentId && (await findPaymentOf(db, partnerId, paymentId));
  if (!payment) return refuse(404, 'not_found', 'Payment not found.');
  const events = await paymentTimeline(db, payment);
  const deliveries = hasRight(role, 'follow') ? await deliveryHistory(db, payment) : undefined;
  const refunded = await findRefunded(db, payment);
  const quote = await findQuoteOf(db, payment.paymentId);
  const paidBy = personWhoPaid(payment);
  const members = paidBy === null ? [] : await listMembers(db, partnerId);
  return {
    payment: {
      ...paymentRow(payment),
      ...paymentFacts(payment, await findCreatingRequest(db, payment), refunded),
      // Null also for somebody who has left the team.
      paid_by_name: members.find(({ userId }) => `telegram:${userId}` === paidBy)?.name ?? null,
      // The locked one that its rate is from; null: it has the rate of its time.
      quote: quote ? { quote_id: quote.quoteId, locked_at: quote.lockedAt.toISOString() } : null,
    },
    timeline: timelineOf(payment.status, events, deliveries),
  };
});

/** The payments of a partner: search, totals, export, and one payment with its timeline. */
export const paymentRoutes = [findPayments, sumPayments, exportPayments, showPayment];
