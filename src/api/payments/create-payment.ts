import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formatMicroUsdt } from '../../base/money.ts';
import { createPayment } from '../../payments/index.ts';
import { parseTraceparent, type Span } from '../../telemetry/index.ts';
import type { ApiDeps } from '../deps.ts';
import { losslessBody, readAmount, readMetadata } from '../http/body.ts';
import { sendError } from '../http/errors.ts';
import { sendJsonText } from '../http/responses.ts';
import { limitMessage } from '../limit-message.ts';
import type { FinishedPaymentCache } from './finished-payment-cache.ts';
import { createPaymentOperation } from './schemas.ts';

interface PaymentBody {
  qr_url: string;
  external_id?: string | null;
  quote_id?: string | null;
}

/** `POST /v1/payments`. The body was validated before; here the amount, the metadata and the key are read. */
export function createPaymentRoute(
  server: FastifyInstance,
  deps: ApiDeps,
  cache: FinishedPaymentCache,
): void {
  server.post<{ Body: PaymentBody }>(
    '/v1/payments',
    { config: { kind: 'create' }, schema: createPaymentOperation, onResponse: endSpan },
    async (request, reply) => {
      const fields = losslessBody(request);
      const amountKopecks = readAmount(fields);
      const metadata = readMetadata(fields);
      const idempotencyKey = readIdempotencyKey(request);
      if (idempotencyKey === undefined) return refuseIdempotencyKey(request, reply);
      if (deps.admission.isFull()) return sendError(request, reply.header('Retry-After', 1), 'gateway_busy');
      const leave = deps.admission.enter();
      const span = startSpan(deps, request);
      const creation = await createPayment(
        deps,
        { ...request.caller, onDebited: leave, trace: span?.context },
        {
          qrUrl: request.body.qr_url,
          amountKopecks,
          externalId: request.body.external_id ?? null,
          metadata,
          idempotencyKey,
          quoteId: request.body.quote_id ?? undefined,
        },
      ).finally(leave);
      // A failure scenario of test mode: the connection breaks before the answer.
      if (creation.isAnswerLost) {
        reply.hijack();
        endSpan(request, reply, () => {});
        return request.raw.socket.destroy();
      }
      if (creation.outcome !== 'payment') return refusePayment(request, reply, creation);
      request.paymentId = creation.payment.paymentId;
      if (!creation.replayed) return sendJsonText(reply, cache.newToJson(creation.payment));
      reply.header('Idempotent-Replayed', 'true');
      return sendJsonText(reply, await cache.toJson(deps.reads.byKey, creation.payment));
    },
  );
}

function endSpan(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { span, paymentId, errorCode } = request;
  span?.set({
    'http.response.status_code': reply.statusCode,
    ...(paymentId === undefined ? {} : { 'kopeck.payment_id': paymentId }),
  });
  span?.end(errorCode);
  done();
}

/** From the check of the request to its answer. */
function startSpan({ tracer }: ApiDeps, request: FastifyRequest): Span | undefined {
  if (!tracer) return undefined;
  const [header, ...others] = request.raw.headersDistinct.traceparent ?? [];
  const span = tracer.start('POST /v1/payments', {
    kind: 'server',
    parent: others.length === 0 ? parseTraceparent(header) : undefined,
    attributes: { 'kopeck.request_id': request.id, 'kopeck.mode': request.caller.mode },
  });
  request.span = span;
  return span;
}

const idempotencyKeysOf = (request: FastifyRequest) => request.raw.headersDistinct['idempotency-key'] ?? [];

/** The one key of the request; undefined when there is none, more than one, or one of other characters. */
function readIdempotencyKey(request: FastifyRequest): string | undefined {
  const [key, ...others] = idempotencyKeysOf(request);
  return key !== undefined && others.length === 0 && /^[\x20-\x7e]{1,255}$/.test(key) ? key : undefined;
}

function refuseIdempotencyKey(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (idempotencyKeysOf(request).length === 0) return sendError(request, reply, 'missing_idempotency_key');
  return sendError(request, reply, 'invalid_request', {
    message: 'Send one Idempotency-Key of 1 to 255 printable ASCII characters.',
  });
}

type Refused = Extract<Awaited<ReturnType<typeof createPayment>>, { outcome: 'refused' }>;

function refusePayment(request: FastifyRequest, reply: FastifyReply, refused: Refused): FastifyReply {
  const { code, requiredMicroUsdt, balanceMicroUsdt, retryAfterSec } = refused;
  if (retryAfterSec !== undefined) reply.header('Retry-After', retryAfterSec);
  return sendError(request, reply, code, {
    ...limitMessage(code, request.caller),
    ...(requiredMicroUsdt === undefined
      ? {}
      : {
          required_usdt: formatMicroUsdt(requiredMicroUsdt),
          balance_usdt: formatMicroUsdt(balanceMicroUsdt!),
        }),
  });
}
