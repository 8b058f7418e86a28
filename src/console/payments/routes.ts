import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { listRequests, needsApproval, readThresholds, submitPaymentDecision } from '../../approvals/index.ts';
import { parseId } from '../../base/ids.ts';
import { parseInstant } from '../../base/instants.ts';
import { isLabel } from '../../base/label.ts';
import { parseKopecks } from '../../base/money.ts';
import { parseQrLink } from '../../base/qr.ts';
import { changesOf } from '../../db/audit.ts';
import {
  findPaymentAnywhere,
  type PaymentFilter,
  paymentTimeline,
  pollNow,
  readSearchWords,
  searchPayments,
} from '../../payments/index.ts';
import { deliveryHistory } from '../../webhooks/index.ts';
import { answer, requestRow } from '../approval-replies.ts';
import type { ConsoleDeps } from '../deps.ts';
import { auditContextOf, Body, paging, refuse, typed } from '../replies.ts';
import type { Page } from '../shapes/common.ts';
import type { PaymentDetail, PaymentRow } from '../shapes/payments.ts';
import { paymentRow, timelineOf } from './rows.ts';

const Text = Type.Optional(Type.String({ maxLength: 2_048 }));
const oneOf = <const Values extends string[]>(...values: Values) =>
  Type.Union(values.map(value => Type.Literal(value)) as { [At in keyof Values]: Type.TLiteral<Values[At]> });

const Search = Type.Object({
  q: Text,
  payment_id: Text,
  external_id: Text,
  qr: Text,
  recipient: Text,
  partner_id: Text,
  mode: Type.Optional(oneOf('live', 'test')),
  status: Type.Optional(oneOf('processing', 'succeeded', 'failed')),
  status_detail: Type.Optional(oneOf('awaiting_gateway', 'manual_review', 'gateway_declined')),
  amount_rub: Text,
  created_after: Text,
  created_before: Text,
  ...paging,
});

const ById = Type.Object({ id: Type.String() });

/** Every payment there is: found, told as a story, asked about, and ended by an operator's word. */
export function paymentRoutes(scope: FastifyInstance, deps: ConsoleDeps): void {
  const routes = typed(scope);

  routes.get(
    '/payments',
    { config: { needs: 'see' }, schema: { querystring: Search } },
    async (request, reply): Promise<Page<PaymentRow> | typeof reply> => {
      const { q, limit, after: cursor } = request.query;
      const after = cursor === undefined ? undefined : parseId('pay', cursor);
      const filter = readFilter(request.query, deps.qrHosts);
      if (!filter || (cursor !== undefined && !after))
        return refuse(
          request,
          reply,
          422,
          'invalid_request',
          'This cannot be looked for: check what was typed.',
        );
      const filters = q ? readSearchWords(q, deps.qrHosts) : [{}];
      const page = await searchPayments(
        deps.db,
        filters.map(words => ({ ...words, ...filter })),
        { limit, after },
      );
      return { data: page.payments.map(paymentRow), next_cursor: page.next };
    },
  );

  routes.get(
    '/payments/:id',
    { config: { needs: 'see' }, schema: { params: ById } },
    async (request, reply): Promise<PaymentDetail | typeof reply> => {
      const paymentId = parseId('pay', request.params.id);
      const payment = paymentId && (await findPaymentAnywhere(deps.db, paymentId));
      if (!payment || payment.status === 'rejected')
        return answer(request, reply, { outcome: 'no_payment' }) as typeof reply;
      const { db } = deps;
      const [told, story, changes, requests, thresholds] = await Promise.all([
        paymentTimeline(db, payment),
        deliveryHistory(db, payment),
        changesOf(db, payment.paymentId),
        listRequests(db, { state: 'waiting', subjects: [payment.paymentId] }),
        readThresholds(db),
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
          next_look_at: payment.nextPollAt?.toISOString() ?? null,
          support_since: payment.supportSince?.toISOString() ?? null,
        },
        timeline: timelineOf(told, payment.status, story, changes),
        request: requests[0] ? requestRow(requests[0], request.operator) : null,
        needs_second_person: needsApproval(payment, thresholds),
      };
    },
  );

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
        return refuse(request, reply, 422, 'invalid_request', 'Say how you know, in 1 to 128 characters.');
      const asked = { outcome, reason, expectedStatusDetail };
      return answer(
        request,
        reply,
        await submitPaymentDecision(auditContextOf(deps, request), request.operator, paymentId, asked),
      );
    },
  );
}

/** What was said, in terms of the house; undefined when something cannot be read. */
function readFilter(
  query: Type.Static<typeof Search>,
  qrHosts: readonly string[],
): PaymentFilter | undefined {
  const filter: PaymentFilter = {
    ...(query.external_id ? { externalId: query.external_id } : {}),
    ...(query.recipient ? { recipient: query.recipient } : {}),
    ...(query.mode ? { mode: query.mode } : {}),
    ...(query.status ? { status: query.status } : {}),
    ...(query.status_detail ? { statusDetail: query.status_detail } : {}),
  };
  let isReadable = true;
  const read = <Value>(text: string | undefined, parse: (text: string) => Value | undefined) => {
    if (!text) return undefined;
    const value = parse(text);
    if (value === undefined) isReadable = false;
    return value;
  };
  const paymentId = read(query.payment_id, text => parseId('pay', text));
  const partnerId = read(query.partner_id, text => parseId('prt', text));
  const qrcId = read(query.qr, text => readCode(text, qrHosts));
  const amountKopecks = read(query.amount_rub, parseKopecks);
  const createdFrom = read(query.created_after, parseInstant);
  const createdBefore = read(query.created_before, parseInstant);
  if (!isReadable) return undefined;
  return {
    ...filter,
    ...(paymentId ? { paymentId } : {}),
    ...(partnerId ? { partnerId } : {}),
    ...(qrcId ? { qrcId } : {}),
    ...(amountKopecks === undefined ? {} : { amountKopecks }),
    ...(createdFrom ? { createdFrom } : {}),
    ...(createdBefore ? { createdBefore } : {}),
  };
}

/** A link in whatever form it was pasted, or the code itself. */
function readCode(text: string, qrHosts: readonly string[]): string | undefined {
  const link = parseQrLink(text, qrHosts);
  if (link.kind === 'sbp') return link.qrcId;
  return /^\w{1,64}$/.test(text.trim()) ? text.trim() : undefined;
}
