import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { formatMicroUsdt } from '../../base/money.ts';
import { createPayment } from '../../payments/index.ts';
import { parseTraceparent, type Span } from '../../telemetry/index.ts';
import type { ApiDeps } from '../deps.ts';
import * as examples from '../docs/examples.ts';
import { losslessBody, readAmount, readMetadata } from '../http/body.ts';
import { endpoint, sendJsonText, serve } from '../http/endpoint.ts';
import { sendError } from '../http/errors.ts';
import { limitMessage } from '../limit-message.ts';
import { orNull } from '../shared-schemas.ts';
import type { FinishedPaymentCache } from './finished-payment-cache.ts';

/** What requests with a QR code send. */
export const qrUrl = Type.String({
  description: 'Link of an SBP QR code',
  examples: [examples.paymentRequests.succeeded.value.qr_url],
});

export const createPaymentEndpoint = endpoint({
  route: 'POST /v1/payments',
  operationId: 'createPayment',
  tag: 'Payments',
  summary: 'Pay an SBP QR code',
  config: { kind: 'create' },
  hooks: { onResponse: endSpan },
  // Not for the validator: a missing key has its own error code.
  documentedHeaders: Type.Object({
    'Idempotency-Key': Type.String({
      minLength: 1,
      maxLength: 255,
      description: '1 to 255 printable ASCII characters; the same one on every repeat of the same payment',
      examples: [examples.idempotencyKey],
    }),
  }),
  body: Type.Object(
    {
      qr_url: qrUrl,
      amount_rub: Type.Optional(
        Type.Union([Type.String(), Type.Number(), Type.Null()], {
          description:
            'Expected amount; a QR code with a different amount is rejected with `amount_mismatch`',
          examples: ['305.10'],
        }),
      ),
      external_id: Type.Optional(
        orNull(Type.String({ maxLength: 128, description: 'Your order identifier', examples: ['order-42'] })),
      ),
      quote_id: Type.Optional(
        orNull(
          Type.String({
            maxLength: 64,
            description:
              'Optional. A quote that was locked for this amount: the payment has its rate, also while the current one is stale',
          }),
        ),
      ),
      metadata: Type.Optional(
        orNull(
          Type.Object(
            {},
            {
              additionalProperties: true,
              description: 'Arbitrary data, returned in the payment and in webhooks. At most 16 KiB',
              examples: [examples.succeeded.metadata],
            },
          ),
        ),
      ),
    },
    { 'x-examples': examples.paymentRequests },
  ),
  answer: {
    description: 'The payment, also when it was declined',
    schema: Type.Ref('Payment'),
    examples: examples.paymentAnswers,
  },
  errors: [
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
    'key_payment_limit_exceeded',
    'key_daily_limit_exceeded',
    'quote_not_found',
    'quote_mode_mismatch',
    'quote_amount_mismatch',
    'quote_used',
    'quote_expired',
    'idempotency_conflict',
    'duplicate_qr_in_flight',
    'qr_changed',
    'qr_unresolvable',
    'rate_unavailable',
    'gateway_unavailable',
    'gateway_busy',
    'maintenance',
  ],
  malformed: examples.missingField('body', 'qr_url'),
});

/** `POST /v1/payments`. The body was validated before; here the amount, the metadata and the key are read. */
export function createPaymentRoute(
  server: FastifyInstance,
  deps: ApiDeps,
  cache: FinishedPaymentCache,
): void {
  serve(server, createPaymentEndpoint, async (request, reply) => {
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
  });
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
