import { hash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '../../base/json.ts';
import { splitHost } from '../../base/qr.ts';
import type { Payment } from '../payment.ts';

/** A partner's request, parsed and validated. */
export interface PaymentRequest {
  qrUrl: string;
  amountKopecks: bigint | undefined;
  externalId: string | null;
  metadata: JsonObject;
  idempotencyKey: string;
  /** Names a locked quote, as it was sent. */
  quoteId?: string | undefined;
}

/**
 * Equal for requests with the same meaning, however they are written: what an idempotency key is compared by. It depends on
 * the request alone. A setting in it would turn a repeat into a conflict when the setting changes, and a partner who then
 * takes a new key could pay twice.
 */
export function hashRequest(request: PaymentRequest): Buffer {
  const code = splitHost(request.qrUrl)?.code;
  return hashMeaning(code === undefined ? request.qrUrl : { code }, request);
}

/** Whether this request made the payment, under its idempotency key. */
export function isSameRequest(
  request: PaymentRequest,
  { requestHash, qrUrl }: Pick<Payment, 'requestHash' | 'qrUrl'>,
): boolean {
  return requestHash.equals(hashRequest(request)) || requestHash.equals(hashWithHostOf(qrUrl, request));
}

/** As earlier versions made the hash: with the host under which the link of the payment was stored. */
function hashWithHostOf(storedUrl: string, request: PaymentRequest): Buffer {
  const [stored, sent] = [splitHost(storedUrl), splitHost(request.qrUrl)];
  return hashMeaning(stored && sent ? `https://${stored.host}/${sent.code}` : request.qrUrl, request);
}

function hashMeaning(link: string | { code: string }, request: PaymentRequest): Buffer {
  const meaning = JSON.stringify([
    link,
    request.amountKopecks?.toString() ?? null,
    request.externalId,
    canonicalJson(request.metadata),
    // Only if there is one: the hash of other requests stays as it is on record.
    ...(request.quoteId === undefined ? [] : [request.quoteId]),
  ]);
  return hash('sha256', meaning, 'buffer');
}
