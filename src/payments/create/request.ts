import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '../../base/json.ts';
import { parseQrLink } from '../../base/qr.ts';

/** A partner's request, parsed and validated. */
export interface PaymentRequest {
  qrUrl: string;
  amountKopecks: bigint | undefined;
  externalId: string | null;
  metadata: JsonObject;
  idempotencyKey: string;
}

/** Equal for requests with the same meaning, however they are written: what an idempotency key is compared by. */
export function hashRequest(request: PaymentRequest, qrHosts: readonly string[]): Buffer {
  const link = parseQrLink(request.qrUrl, qrHosts);
  const meaning = JSON.stringify([
    link.kind === 'sbp' ? link.url : request.qrUrl,
    request.amountKopecks?.toString() ?? null,
    request.externalId,
    canonicalJson(request.metadata),
  ]);
  return createHash('sha256').update(meaning).digest();
}
