import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseId } from '../base/ids.ts';
import { formatKopecks, formatMicroUsdt } from '../base/money.ts';
import { isRecipientBlocked } from '../controls/index.ts';
import type { Limits } from '../partners/index.ts';
import {
  createPayment,
  findPayment,
  listPayments,
  type PaymentStatus,
  paymentObject,
  resolveQr,
} from '../payments/index.ts';
import { losslessBody, readAmount, readMetadata, refuseUnstorableText } from './body.ts';
import type { ApiDeps } from './deps.ts';
import { type ErrorCode, sendError } from './errors.ts';
import { rememberFinished } from './finished.ts';
import { responses } from './responses.ts';
import * as schemas from './schemas.ts';
import { readInstant } from './times.ts';

const security = [{ apiKey: [] }];

interface ListQuery {
  limit: number;
  starting_after?: string;
  status?: PaymentStatus;
  external_id?: string;
  created_after?: string;
  created_before?: string;
}

/** Look at a code, pay it, and see what became of it. Each reads, asks the rooms below, and writes; none decides. */
export function paymentRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const send = (reply: FastifyReply, json: string) =>
    reply.type('application/json; charset=utf-8').send(json);
  const finished = rememberFinished();

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
      const fields = losslessBody(request);
      const amountKopecks = readAmount(fields);
      const metadata = readMetadata(fields);
      const keys = request.raw.headersDistinct['idempotency-key'] ?? [];
      if (keys.length === 0) return sendError(request, reply, 'missing_idempotency_key');
      const [idempotencyKey] = keys as [string];
      if (keys.length > 1 || !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
        return sendError(request, reply, 'invalid_request', {
          message: 'Send one Idempotency-Key of 1 to 255 printable ASCII characters.',
        });
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
      if (creation.isAnswerLost) {
        reply.hijack();
        return request.raw.socket.destroy();
      }
      if (creation.outcome === 'payment') {
        if (creation.replayed) reply.header('Idempotent-Replayed', 'true');
        return send(reply, finished.describe(creation.payment));
      }
      const { requiredMicroUsdt, balanceMicroUsdt, retryAfterSec } = creation;
      if (retryAfterSec !== undefined) reply.header('Retry-After', retryAfterSec);
      return sendError(request, reply, creation.code, {
        ...limitMissed(creation.code, request.caller.limits),
        ...(requiredMicroUsdt === undefined
          ? {}
          : {
              required_usdt: formatMicroUsdt(requiredMicroUsdt),
              balance_usdt: formatMicroUsdt(balanceMicroUsdt!),
            }),
      });
    },
  );

  server.get<{ Querystring: ListQuery }>(
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
      const { limit, starting_after: after, status, external_id: externalId } = request.query;
      if (externalId !== undefined) refuseUnstorableText(externalId, ['query', 'external_id']);
      const createdFrom = readInstant(request.query.created_after, 'created_after');
      const createdBefore = readInstant(request.query.created_before, 'created_before');
      const startingAfter = after === undefined ? undefined : parseId('pay', after);
      const cursor = startingAfter && (await findPayment(deps.db, request.caller, startingAfter));
      if (after !== undefined && (!cursor || cursor.status === 'rejected'))
        return sendError(request, reply, 'not_found');
      const page = await listPayments(deps.db, request.caller, {
        limit,
        startingAfter,
        status,
        externalId,
        createdFrom,
        createdBefore,
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
      const known = finished.find(request.caller, request.params.payment_id);
      if (known) return send(reply, known);
      const paymentId = parseId('pay', request.params.payment_id);
      const payment = paymentId && (await findPayment(deps.db, request.caller, paymentId));
      if (!payment || payment.status === 'rejected') return sendError(request, reply, 'not_found');
      return send(reply, finished.describe(payment));
    },
  );
}

/** Which of the partner's own limits an amount has missed. */
function limitMissed(code: ErrorCode, { minKopecks, maxKopecks }: Limits): { message?: string } {
  switch (code) {
    case 'invalid_request':
      return { message: `The amount is below your smallest payment, ${formatKopecks(minKopecks)} RUB.` };
    case 'amount_limit_exceeded':
      return { message: `The amount is above your largest payment, ${formatKopecks(maxKopecks)} RUB.` };
    default:
      return {};
  }
}
