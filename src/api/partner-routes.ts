import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import { formatKopecks, formatMicroUsdt, formatRate, kopecksToMicroUsdt } from '../base/money.ts';
import { createRecent } from '../base/recent.ts';
import { isRecipientBlocked } from '../controls/index.ts';
import { readBalances } from '../ledger/index.ts';
import {
  createPayment,
  findPayment,
  listPayments,
  type Payment,
  type PaymentStatus,
  paymentObject,
  resolveQr,
} from '../payments/index.ts';
import { type CurrentRate, isStale, readCurrentRate } from '../rates/index.ts';
import { readAmount, readMetadata } from './body.ts';
import type { ApiDeps } from './deps.ts';
import { sendError } from './errors.ts';
import { responses } from './responses.ts';
import * as schemas from './schemas.ts';

const apiVersion = '2026-11-14';
const security = [{ apiKey: [] }];

/** Together a few megabytes; large ones are read again. */
const keptAnswers = 10_000;
const keptCharacters = 2_048;

/** The eight endpoints of the contract. Each reads, asks the rooms below, and writes; none decides. */
export function partnerRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const send = (reply: FastifyReply, json: string) =>
    reply.type('application/json; charset=utf-8').send(json);
  // A finished payment never changes, so what was answered once can be answered again without asking the database.
  const finished = createRecent<string>(keptAnswers);
  const nameOf = (partnerId: string, mode: string, paymentId: string) => `${partnerId} ${mode} ${paymentId}`;
  const describe = (payment: Payment) => {
    const text = paymentObject(payment);
    if (payment.status !== 'processing' && text.length <= keptCharacters)
      finished.add(nameOf(payment.partnerId, payment.mode, payment.paymentId), text);
    return text;
  };
  const body = (request: FastifyRequest) => (request as FastifyRequest & { lossless: JsonObject }).lossless;

  server.get(
    '/v1/ping',
    {
      schema: {
        operationId: 'ping',
        tags: ['Account'],
        summary: 'Key check',
        security,
        response: responses(schemas.Ping, []),
      },
    },
    request => ({
      ok: true,
      partner_id: request.caller.partnerId,
      mode: request.caller.mode,
      api_version: apiVersion,
      request_id: request.id,
    }),
  );

  server.get(
    '/v1/balance',
    {
      schema: {
        operationId: 'getBalance',
        tags: ['Account'],
        summary: 'Balance in USDT',
        security,
        response: responses(schemas.Balance, []),
      },
    },
    async request => {
      const balances = await readBalances(deps.db, request.caller.partnerId);
      return {
        balance_usdt: formatMicroUsdt(balances[request.caller.mode].availableMicroUsdt),
        currency: 'USDT',
        request_id: request.id,
      };
    },
  );

  const describeFreshness = (rate: CurrentRate) => ({
    as_of: Math.floor(rate.asOf.getTime() / 1000),
    max_age_sec: deps.rateMaxAgeSec,
    stale: isStale(rate, deps.clock, deps.rateMaxAgeSec),
  });

  server.get(
    '/v1/rate',
    {
      schema: {
        operationId: 'getRate',
        tags: ['Rates'],
        summary: 'Current rate',
        security,
        response: responses(schemas.Rate, ['rate_unavailable']),
      },
    },
    async (request, reply) => {
      const rate = await readCurrentRate(deps.db);
      if (!rate) return sendError(request, reply, 'rate_unavailable');
      return {
        pair: 'USDT/RUB',
        rate: formatRate(rate.rateE4),
        ...describeFreshness(rate),
        request_id: request.id,
      };
    },
  );

  server.post(
    '/v1/quote',
    {
      schema: {
        operationId: 'createQuote',
        tags: ['Rates'],
        summary: 'How much USDT is debited for an amount in rubles',
        security,
        body: schemas.QuoteRequest,
        response: responses(schemas.Quote, ['invalid_request', 'rate_unavailable']),
      },
    },
    async (request, reply) => {
      const kopecks = readAmount(body(request))!;
      const rate = await readCurrentRate(deps.db);
      if (!rate) return sendError(request, reply, 'rate_unavailable');
      return {
        amount_rub: formatKopecks(kopecks),
        amount_usdt: formatMicroUsdt(kopecksToMicroUsdt(kopecks, rate.rateE4)),
        rate: formatRate(rate.rateE4),
        pair: 'USDT/RUB',
        fee_rub: '0.00',
        ...describeFreshness(rate),
        request_id: request.id,
      };
    },
  );

  server.post<{ Body: { qr_url: string } }>(
    '/v1/qr/resolve',
    {
      schema: {
        operationId: 'resolveQr',
        tags: ['Payments'],
        summary: 'QR details without a debit',
        security,
        body: schemas.ResolveRequest,
        response: responses(schemas.ResolvedQr, [
          'invalid_request',
          'invalid_qr',
          'unsupported_qr',
          'unsupported_variable_amount',
          'qr_unresolvable',
          'gateway_unavailable',
        ]),
      },
    },
    async (request, reply) => {
      const { mode, limits } = request.caller;
      const resolution = await resolveQr(deps, mode, request.body.qr_url);
      if (resolution.outcome === 'refused') return sendError(request, reply, resolution.code);
      const { qr } = resolution;
      const withinLimits = qr.amountKopecks >= limits.minKopecks && qr.amountKopecks <= limits.maxKopecks;
      return {
        qrc_id: qr.qrcId,
        recipient: qr.recipient,
        amount_rub: formatKopecks(qr.amountKopecks),
        currency: 'RUB',
        purpose: qr.purpose,
        payable: withinLimits && !(await isRecipientBlocked(deps.db, [qr.recipient, qr.recipientId])),
        request_id: request.id,
      };
    },
  );

  server.post<{ Body: { qr_url: string; external_id?: string | null } }>(
    '/v1/payments',
    {
      config: { kind: 'create' },
      schema: {
        operationId: 'createPayment',
        tags: ['Payments'],
        summary: 'Pay an SBP QR code',
        security,
        headers: schemas.PaymentHeaders,
        body: schemas.PaymentRequest,
        response: responses(schemas.PaymentRef, [
          'invalid_request',
          'missing_idempotency_key',
          'invalid_qr',
          'unsupported_qr',
          'unsupported_variable_amount',
          'amount_mismatch',
          'amount_limit_exceeded',
          'insufficient_balance',
          'recipient_blocked',
          'daily_limit_exceeded',
          'idempotency_conflict',
          'duplicate_qr_in_flight',
          'qr_changed',
          'qr_unresolvable',
          'rate_unavailable',
          'gateway_unavailable',
          'gateway_busy',
          'maintenance',
        ]),
      },
    },
    async (request, reply) => {
      const fields = body(request);
      const amountKopecks = readAmount(fields);
      const metadata = readMetadata(fields);
      const keys = request.raw.headersDistinct['idempotency-key'] ?? [];
      if (keys.length === 0) return sendError(request, reply, 'missing_idempotency_key');
      const [idempotencyKey] = keys as [string];
      if (keys.length > 1 || !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
        return sendError(request, reply, 'invalid_request');
      }
      if (deps.admission.isFull()) return sendError(request, reply.header('Retry-After', 1), 'gateway_busy');
      const leave = deps.admission.enter();
      const creation = await createPayment(
        deps,
        { ...request.caller, onDebited: leave },
        {
          qrUrl: request.body.qr_url,
          amountKopecks,
          externalId: request.body.external_id ?? null,
          metadata,
          idempotencyKey,
        },
      ).finally(leave);
      if (creation.outcome === 'payment') {
        if (creation.replayed) reply.header('Idempotent-Replayed', 'true');
        return send(reply, describe(creation.payment));
      }
      const { requiredMicroUsdt, balanceMicroUsdt } = creation;
      return sendError(
        request,
        reply,
        creation.code,
        requiredMicroUsdt === undefined
          ? {}
          : {
              required_usdt: formatMicroUsdt(requiredMicroUsdt),
              balance_usdt: formatMicroUsdt(balanceMicroUsdt!),
            },
      );
    },
  );

  server.get<{ Querystring: { limit: number; starting_after?: string; status?: PaymentStatus } }>(
    '/v1/payments',
    {
      schema: {
        operationId: 'listPayments',
        tags: ['Payments'],
        summary: 'Payment history, newest first',
        security,
        querystring: schemas.ListQuery,
        response: responses(schemas.PaymentList, ['not_found']),
      },
    },
    async (request, reply) => {
      const { limit, starting_after: after, status } = request.query;
      const startingAfter = after === undefined ? undefined : parseId('pay', after);
      const cursor = startingAfter && (await findPayment(deps.db, request.caller, startingAfter));
      if (after !== undefined && (!cursor || cursor.status === 'rejected'))
        return sendError(request, reply, 'not_found');
      const page = await listPayments(deps.db, request.caller, {
        limit,
        ...(startingAfter ? { startingAfter } : {}),
        ...(status ? { status } : {}),
      });
      const nextCursor = page.hasMore ? page.payments.at(-1)!.paymentId : null;
      const rest = JSON.stringify({
        has_more: page.hasMore,
        next_cursor: nextCursor,
        request_id: request.id,
      });
      return send(reply, `{"data":[${page.payments.map(paymentObject).join(',')}],${rest.slice(1)}`);
    },
  );

  server.get<{ Params: { payment_id: string } }>(
    '/v1/payments/:payment_id',
    {
      schema: {
        operationId: 'getPayment',
        tags: ['Payments'],
        summary: 'Status of one payment: the source of truth',
        security,
        params: schemas.PaymentParams,
        response: responses(schemas.PaymentRef, ['not_found']),
      },
    },
    async (request, reply) => {
      const { partnerId, mode } = request.caller;
      const known = finished.get(nameOf(partnerId, mode, request.params.payment_id));
      if (known) return send(reply, known);
      const paymentId = parseId('pay', request.params.payment_id);
      const payment = paymentId && (await findPayment(deps.db, request.caller, paymentId));
      if (!payment || payment.status === 'rejected') return sendError(request, reply, 'not_found');
      return send(reply, describe(payment));
    },
  );
}
