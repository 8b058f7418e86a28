import type { FastifyInstance } from 'fastify';
import { parseId } from '../../base/ids.ts';
import { formatKopecks } from '../../base/money.ts';
import { isRecipientBlocked } from '../../controls/index.ts';
import {
  findPayment,
  findRefundedOf,
  listPayments,
  type PaymentStatus,
  paymentObject,
  resolveQr,
} from '../../payments/index.ts';
import type { ApiDeps } from '../deps.ts';
import { refuseUnstorableText } from '../http/body.ts';
import { sendError } from '../http/errors.ts';
import { readInstant } from '../http/instants.ts';
import { sendJsonText } from '../http/responses.ts';
import { createPaymentRoute } from './create-payment.ts';
import { createFinishedPaymentCache, type FinishedPaymentCache } from './finished-payment-cache.ts';
import * as schemas from './schemas.ts';

export function paymentRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const cache = createFinishedPaymentCache(deps.clock);
  resolveQrRoute(server, deps);
  createPaymentRoute(server, deps, cache);
  listPaymentsRoute(server, deps);
  getPaymentRoute(server, deps, cache);
}

function resolveQrRoute(server: FastifyInstance, deps: ApiDeps): void {
  server.post<{ Body: { qr_url: string } }>(
    '/v1/qr/resolve',
    { schema: schemas.resolveQrOperation },
    async (request, reply) => {
      const { limits, rights } = request.caller;
      const resolution = await resolveQr(deps, request.caller, request.body.qr_url);
      if (resolution.outcome === 'refused') return sendError(request, reply, resolution.code);
      const { qr } = resolution;
      const isWithinLimits =
        qr.amountKopecks >= limits.minKopecks &&
        qr.amountKopecks <= limits.maxKopecks &&
        qr.amountKopecks <= (rights?.maxKopecks ?? limits.maxKopecks);
      return {
        qrc_id: qr.qrcId,
        recipient: qr.recipient,
        amount_rub: formatKopecks(qr.amountKopecks),
        currency: 'RUB',
        purpose: qr.purpose,
        payable: isWithinLimits && !(await isRecipientBlocked(deps.db, [qr.recipient, qr.recipientId])),
        request_id: request.id,
      };
    },
  );
}

interface ListQuery {
  limit: number;
  starting_after?: string;
  status?: PaymentStatus;
  external_id?: string;
  created_after?: string;
  created_before?: string;
}

function listPaymentsRoute(server: FastifyInstance, deps: ApiDeps): void {
  server.get<{ Querystring: ListQuery }>(
    '/v1/payments',
    { schema: schemas.listPaymentsOperation },
    async (request, reply) => {
      const { limit, starting_after: after, status, external_id: externalId } = request.query;
      if (externalId !== undefined) refuseUnstorableText(externalId, ['query', 'external_id']);
      const createdFrom = readInstant(request.query.created_after, 'created_after');
      const createdBefore = readInstant(request.query.created_before, 'created_before');
      const startingAfter = after === undefined ? undefined : parseId('pay', after);
      const { reads } = deps;
      if (after !== undefined) {
        const cursor = startingAfter && (await findPayment(reads.byKey, request.caller, startingAfter));
        if (startingAfter && !cursor) await deps.confirmHistory();
        if (!cursor || cursor.status === 'rejected') return sendError(request, reply, 'not_found');
      }
      const page = await listPayments(reads.of(request.caller.partnerId), request.caller, {
        limit,
        startingAfter,
        status,
        externalId,
        createdFrom,
        createdBefore,
      });
      // A partner may take it for final that there is no payment.
      if (page.payments.length === 0) await deps.confirmHistory();
      const rest = JSON.stringify({
        has_more: page.hasMore,
        next_cursor: page.hasMore ? page.payments.at(-1)!.paymentId : null,
        request_id: request.id,
      });
      const refunded = await findRefundedOf(reads.byKey, page.payments);
      const objects = page.payments.map((payment, index) => paymentObject(payment, refunded[index]));
      return sendJsonText(reply, `{"data":[${objects.join(',')}],${rest.slice(1)}`);
    },
  );
}

function getPaymentRoute(server: FastifyInstance, deps: ApiDeps, cache: FinishedPaymentCache): void {
  server.get<{ Params: { payment_id: string } }>(
    '/v1/payments/:payment_id',
    { schema: schemas.getPaymentOperation },
    async (request, reply) => {
      const { reads } = deps;
      const cached = await cache.find(reads.byKey, request.caller, request.params.payment_id);
      if (cached) return sendJsonText(reply, cached);
      const paymentId = parseId('pay', request.params.payment_id);
      const payment = paymentId && (await findPayment(reads.byKey, request.caller, paymentId));
      if (paymentId && !payment) await deps.confirmHistory();
      if (!payment || payment.status === 'rejected') return sendError(request, reply, 'not_found');
      return sendJsonText(reply, await cache.toJson(reads.byKey, payment));
    },
  );
}
